"""Reads a port in a process of its own, which may die: a port can be made to take all time and memory there is.

The process is forked before there is anything to read and loads libcst meanwhile; then it is asked twice, for what
stands in the file and for the program of some kernels. It never prints, and it ends when its parent does.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NoReturn, Protocol, TypeVar

from portcheck.core.source import NOWHERE, Position, SourceFile, Span
from portcheck.frontends.nki.module import NkiModule, NkiOptions, load_parser, read_nki
from portcheck.frontends.nki.source.generation import newest_version
from portcheck.frontends.reading import KernelSignature, Module, Problem
from portcheck.ir import Program, Side
from portcheck.knowledge import load

_LENGTH = struct.Struct("!Q")
_OUT_OF_MEMORY = 71
_STANDARD = (0, 1, 2)


class Port(Module, Protocol):
    """A port that was read, here or elsewhere."""

    @property
    def version(self) -> str:
        """The NKI version it is read as."""
        ...

    @property
    def version_evidence(self) -> tuple[str, ...]:
        """Why it is read as that version."""
        ...


Result = TypeVar("Result")
Reader = Callable[[SourceFile, NkiOptions], Port]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take: seconds for an answer, bytes of memory. A function of 400 kB takes 12 s and 0.6 GB."""

    seconds: int = 120
    memory: int = 4 << 30


LIMITS = Limits()


@contextmanager
def reader(limits: Limits = LIMITS) -> Iterator[Reader]:
    """What reads a port: a child forked now, or `read_nki` where a fork is impossible or, beside threads, unsafe."""
    worker = _Worker.start(limits) if hasattr(os, "fork") and threading.active_count() == 1 else None
    if worker is None:
        yield read_nki
        return
    try:
        yield lambda source, options: _PortApart(worker, source, options)
    finally:
        worker.end()


class _LostError(Exception):
    """The child is gone or gave no answer in time; the message says which."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the child tells about a file."""

    kernels: tuple[KernelSignature, ...]
    problems: tuple[Problem, ...]
    version: str
    version_evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Raised:
    """An answer that is an exception."""

    error: Exception


@dataclass(frozen=True, slots=True)
class _Unsendable:
    """An answer that exists but is nested too deeply for a pickle: the file is harmless and can be read here."""


class _PortApart:
    """A port that the child reads; with a child that is lost it is a file that did not parse."""

    def __init__(self, worker: _Worker, source: SourceFile, options: NkiOptions) -> None:
        self._worker = worker
        self._source = source
        self._options = options
        self._read: _Reading | Port | None = None
        self._lost: tuple[Problem, ...] = ()
        worker.send((source, options))

    @property
    def kernels(self) -> tuple[KernelSignature, ...]:
        return self._reading().kernels

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*self._reading().problems, *self._lost)

    @property
    def version(self) -> str:
        return self._reading().version

    @property
    def version_evidence(self) -> tuple[str, ...]:
        return self._reading().version_evidence

    def lower(self, names: Sequence[str]) -> Program:
        spans = {kernel.name: kernel.span for kernel in self.kernels}
        self._worker.send(tuple(names))
        try:
            program = self._worker.answer()
        except _LostError as lost:
            place = next((spans[name] for name in names if name in spans), NOWHERE)
            self._lost = (Problem(place, str(lost)),)
            return Program(side=Side.NKI, path=self._source.path, kernels=(), launches=(), version=self.version)
        if isinstance(program, Program):
            return program
        return read_nki(self._source, self._options).lower(names)

    def _reading(self) -> _Reading | Port:
        if self._read is None:
            try:
                answer = self._worker.answer()
            except _LostError as lost:
                start = Position(1, 1)
                problem = Problem(Span(self._source.path, start, start), str(lost))
                answer = _Reading((), (problem,), self._options.version or newest_version(load()), ())
            self._read = answer if isinstance(answer, _Reading) else read_nki(self._source, self._options)
        return self._read


class _Worker:
    """The parent's end of the child."""

    def __init__(self, pid: int, questions: int, answers: int, limits: Limits) -> None:
        self._pid: int | None = pid
        self._questions = questions
        self._answers = answers
        self._limits = limits
        self._loss = "the process that read it ended"

    @classmethod
    def start(cls, limits: Limits) -> _Worker | None:
        """A child that waits for questions; None when the system gives none."""
        ends: list[int] = []
        try:
            for _ in range(2):
                ends.extend(os.pipe())
            if min(ends) in _STANDARD:  # standard streams are closed; the child could not tell them from its pipes
                raise OSError
            pid = os.fork()
        except OSError:
            for end in ends:
                os.close(end)
            return None
        asked, asks, answered, answers = ends
        if pid == 0:
            _live(ends, limits)
        os.close(asked)
        os.close(answers)
        return cls(pid, asks, answered, limits)

    def send(self, question: object) -> None:
        """Asks; a child that is gone is noticed when its answer is missing."""
        if self._pid is None:
            return
        with suppress(BrokenPipeError):
            _write(self._questions, pickle.dumps(question, pickle.HIGHEST_PROTOCOL))

    def answer(self) -> object:
        """The next answer. Raises _LostError when none comes, and what the child raised."""
        if self._pid is None:
            raise _LostError(self._loss)
        deadline = time.monotonic() + self._limits.seconds
        try:
            answer = pickle.loads(_read(self._answers, deadline))
        except TimeoutError:
            self.end()
            self._loss = f"reading it takes more than {self._limits.seconds} seconds"
            raise _LostError(self._loss) from None
        except EOFError:
            self._loss = self._death()
            raise _LostError(self._loss) from None
        if isinstance(answer, _Raised):
            raise answer.error
        return answer

    def _death(self) -> str:
        status = self.end()
        if status == _OUT_OF_MEMORY:
            return f"reading it takes more than {self._limits.memory >> 20} MiB of memory"
        return f"the process that read it ended ({f'signal {-status}' if status < 0 else f'code {status}'})"

    def end(self) -> int:
        """Ends the child, if it is there, and returns its exit code; minus the signal that ended it."""
        if self._pid is None:
            return 0
        pid, self._pid = self._pid, None
        os.close(self._questions)
        os.close(self._answers)
        done, status = os.waitpid(pid, os.WNOHANG)
        if not done:
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)


def _live(ends: Sequence[int], limits: Limits) -> NoReturn:
    """The child's life: quiet, limited, and over when the parent is."""
    code = 1
    try:
        _be_quiet(limits)
        asked, asks, answered, answers = ends
        os.close(asks)  # or the end of the parent would not be heard
        os.close(answered)
        questions: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=_listen, args=(asked, questions), daemon=True).start()
        with suppress(Exception):  # `lower` meets the same error and says it
            load_parser()
        _serve(questions, answers)
    except MemoryError:
        code = _OUT_OF_MEMORY
    finally:
        os._exit(code)  # whatever was raised: nothing of the parent's may run here


def _be_quiet(limits: Limits) -> None:
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C too, and ends its child
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in _STANDARD:
        os.dup2(nothing, stream)
    os.close(nothing)
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_AS, limits.memory),
    ):
        hard = resource.getrlimit(kind)[1]
        with suppress(ValueError, OSError):  # not every system limits everything; the parent watches the clock anyway
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _listen(asked: int, questions: SimpleQueue[Any]) -> None:
    """Hears questions; their end is the parent's."""
    while True:
        try:
            questions.put(pickle.loads(_read(asked)))
        except EOFError:
            os._exit(0)


def _serve(questions: SimpleQueue[Any], answers: int) -> None:
    """One file, then its kernels as often as they are asked for; an only kernel is lowered before it is."""
    source, options = questions.get()
    module = _attempt(lambda: read_nki(source, options))
    _write(answers, _packed(_attempt(lambda: _reading_of(module)) if isinstance(module, NkiModule) else module))
    if not isinstance(module, NkiModule):
        return
    names = tuple(kernel.name for kernel in module.kernels)
    ahead = {names: _lowered(module, names)} if len(names) == 1 else {}
    while True:
        asked = questions.get()
        _write(answers, ahead.get(asked) or _lowered(module, asked))


def _reading_of(module: NkiModule) -> _Reading:
    return _Reading(module.kernels, module.problems, module.version, module.version_evidence)


def _lowered(module: NkiModule, names: Sequence[str]) -> bytes:
    return _packed(_attempt(lambda: module.lower(names)))


def _attempt(run: Callable[[], Result]) -> Result | _Raised:
    try:
        return run()
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # carried to the parent, which raises it as if it were its own
        error.add_note("".join(traceback.format_exception(error)))
        return _Raised(error)


def _packed(answer: object) -> bytes:
    try:
        packed = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        if isinstance(answer, _Raised):
            pickle.loads(packed)  # an exception may be one that only looks as if it could be sent
    except RecursionError:
        return pickle.dumps(_Unsendable())
    except Exception:
        if isinstance(answer, _Raised):
            return pickle.dumps(_Raised(RuntimeError(f"{type(answer.error).__name__}: {answer.error}")))
        raise
    return packed


def _write(pipe: int, packed: bytes) -> None:
    message = memoryview(_LENGTH.pack(len(packed)) + packed)
    while message:
        message = message[os.write(pipe, message) :]


def _read(pipe: int, deadline: float | None = None) -> bytes:
    """The next message on `pipe`. Raises EOFError when there is none, TimeoutError when none came in time."""
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size, deadline))
    return _exactly(pipe, length, deadline)


def _exactly(pipe: int, count: int, deadline: float | None) -> bytes:
    received = bytearray()
    while len(received) < count:
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        if not select.select([pipe], [], [], left)[0]:
            raise TimeoutError
        part = os.read(pipe, count - len(received))
        if not part:
            raise EOFError
        received += part
    return bytes(received)
