"""From two files to a report."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from portcheck import __version__
from portcheck.align import Alignment, align
from portcheck.core.errors import InputError, did_you_mean
from portcheck.core.report import Input, Inputs, Report, Tool
from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaModule, read_cuda
from portcheck.frontends.nki import NkiOptions, Port, Reader, read_nki
from portcheck.frontends.reading import Problem
from portcheck.ir import Program, Ranges, Side, kernel_operations
from portcheck.ir.linking import linked
from portcheck.ir.verify import verify
from portcheck.knowledge import Knowledge, NkiVersion, load
from portcheck.passes import Facts, facts_of
from portcheck.pipeline.flags import cuda_options, stated_options
from portcheck.pipeline.kernels import choose_kernels, without_arguments
from portcheck.pipeline.request import Request
from portcheck.pipeline.sources import check_order, check_parses, names_in, read_source
from portcheck.rubric import report_of
from portcheck.rules import Pair, Unparsed, judge, numbered
from portcheck.values import Evaluated, evaluate
from portcheck.values.renaming import Names

DEFAULT_TARGET = "trn2"
NKI_VERSIONS = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Analysis:
    """A report and the sources it speaks about."""

    report: Report
    sources: Mapping[str, SourceFile]


def check(request: Request, *, read_port: Reader = read_nki) -> Analysis:
    """Compares the two files of `request`. Raises InputError for what cannot be compared (exit code 2).

    `read_port` reads the port; `frontends.nki.reader` gives one that works in another process.
    """
    knowledge = load()
    target = _target(request.target, knowledge)
    _require_version(request.nki_version)
    _require_dtypes(request.dtypes, knowledge)
    _require_assumptions(request.assumptions, knowledge)
    cuda_source, nki_source = read_source(request.cuda_path), read_source(request.nki_path)
    check_order(cuda_source, nki_source)
    nki = read_port(nki_source, _nki_options(request, target))  # first: it may work beside us
    cuda = read_cuda(cuda_source, cuda_options(request))
    if not cuda.kernels:
        check_parses(cuda_source)
    given = {cuda_source.path: cuda_source, nki_source.path: nki_source}
    names, nki_name, pairing = choose_kernels(request, given, cuda.kernels, nki.kernels, lambda: cuda.chain)
    original = linked(cuda.lower(names))
    included = _included(original)
    facts = facts_of(original)
    lost: list[str] = []
    evaluated = _isolated(lambda: evaluate(original), _NOTHING, "what the original computes", lost)
    port = nki.lower([nki_name]) if nki_name else _empty(nki_source)  # not earlier: what reads it may still be at work
    sources = {**given, **included, **_included(port)}
    _require_stated(request, port, *(sources[path] for path in sources if path not in included))
    other = facts_of(port)
    failures = [*_invalid(original), *_invalid(port)]
    known = len(failures)
    failures += lost
    computed = _isolated(lambda: evaluate(port), _NOTHING, "what the port computes", failures)
    evaluated, computed = _doubted(evaluated, original, cuda.problems), _doubted(computed, port, nki.problems)
    alignment = _aligned(facts, other, evaluated, computed, failures)
    is_whole = len(failures) == known  # else rules would report as lost what only was not looked at
    pair = Pair(
        cuda=facts,
        nki=other,
        original=evaluated,
        port=computed,
        alignment=alignment,
        pairing=pairing,
        knowledge=knowledge,
        target=target,
        sources=sources,
        cuda_unparsed=tuple(Unparsed(problem.span, problem.message) for problem in cuda.problems),
        nki_unparsed=tuple(Unparsed(problem.span, problem.message) for problem in nki.problems),
    )
    report = report_of(
        pair,
        numbered(judge(pair)) if is_whole else (),
        tool=Tool(name="portcheck", version=__version__),
        inputs=_inputs(request, cuda_source, nki_source, original, port, nki),
        target=target,
        nki_version=nki.version,
        not_checked=failures,
    )
    return Analysis(report, sources)


_NOTHING = Evaluated((), (), Ranges(), ())
_NO_ALIGNMENT = Alignment((), (), (), (), Names(), Ranges())


def _isolated(run: Callable[[], Result], fallback: Result, what: str, failures: list[str]) -> Result:
    """The result of `run`; if it fails, `fallback`, and the report says what was not looked at."""
    try:
        return run()
    except RecursionError:
        failures.append(f"{what}: it is nested too deeply to be worked out")
        return fallback
    except Exception as error:
        if os.environ.get("PORTCHECK_DEBUG"):
            raise
        failures.append(f"{what}: the analysis failed ({type(error).__name__}); please report this as a bug")
        return fallback


def _aligned(cuda: Facts, nki: Facts, original: Evaluated, port: Evaluated, failures: list[str]) -> Alignment:
    if not nki.program.kernels:
        return _NO_ALIGNMENT
    return _isolated(lambda: align(cuda, nki, original, port), _NO_ALIGNMENT, "the correspondence", failures)


def _doubted(evaluated: Evaluated, program: Program, problems: Sequence[Problem]) -> Evaluated:
    """`evaluated` without certainty where part of a compared kernel, or of what it calls, did not parse."""
    spans = [kernel.span for kernel in program.kernels] + [op.span for op in kernel_operations(program)]
    if any(span.covers(problem.span) or problem.span.covers(span) for problem in problems for span in spans):
        return evaluated.doubted("part of the kernel did not parse")
    return evaluated


def _invalid(program: Program) -> list[str]:
    problems = verify(program)
    if problems and os.environ.get("PORTCHECK_DEBUG"):
        raise AssertionError(problems)
    side = "original" if program.side is Side.CUDA else "port"
    return [f"the lowered {side} is inconsistent ({problems[0]}); please report this as a bug"] if problems else []


def _target(name: str | None, knowledge: Knowledge) -> str:
    if name is None:
        return DEFAULT_TARGET
    if knowledge.chip(name) is None:
        known = ", ".join(sorted(knowledge.chips))
        raise InputError(
            f"there is no target called {name}; the targets are {known}",
            hint=did_you_mean(name, knowledge.chips) or "portcheck list targets",
        )
    return name


def _require_version(text: str | None) -> None:
    if text is None:
        return
    try:
        version = NkiVersion.parse(text)
    except ValueError:
        version = None
    if version is None or str(replace(version, sdk=0)) not in NKI_VERSIONS:
        raise InputError(
            f'there is no NKI version "{text}"; the versions are {", ".join(NKI_VERSIONS)}',
            hint=did_you_mean(text, NKI_VERSIONS) or "0.1 stands for neuronxcc.nki, 0.1/2.23 for that of one SDK",
        )


def _require_stated(request: Request, port: Program, *texts: SourceFile) -> None:
    """Raises InputError where something is stated of what the port does not have."""
    _require_parameters("--dtype", request.dtypes, port)
    _require_parameters("--value", request.values, port)
    words = frozenset().union(*map(names_in, texts)) if request.shapes and port.kernels else frozenset()
    for name, _ in request.shapes:
        root = name.partition(".")[0].partition("[")[0]
        if port.kernels and root not in words:
            hint = did_you_mean(root, words) or "name a parameter, or a size as the port calls it"
            raise InputError(f'--shape {name}: the port has nothing called "{root}"', hint=hint)


def _require_parameters(option: str, stated: Sequence[tuple[str, str]], port: Program) -> None:
    """Raises InputError where something is stated of no parameter of the port, nor of a part of one (`config.eps`)."""
    known = [parameter.name for kernel in port.kernels for parameter in kernel.parameters]
    for name, _ in stated:
        root = name.partition(".")[0].partition("[")[0]
        if known and name not in known and root not in known:
            listed = f"its parameters are {', '.join(known)}"
            raise InputError(
                f'{option} {name}: the port has no parameter "{root}"', hint=did_you_mean(root, known) or listed
            )


def _require_dtypes(stated: Sequence[tuple[str, str]], knowledge: Knowledge) -> None:
    for name, value in stated:
        if value not in knowledge.dtypes.by_name:
            known = f"the dtypes are {', '.join(knowledge.dtypes.by_name)}"
            raise InputError(
                f'--dtype {name}: there is no dtype "{value}"',
                hint=did_you_mean(value, knowledge.dtypes.by_name) or known,
            )


def _require_assumptions(stated: Sequence[str], knowledge: Knowledge) -> None:
    known = (*knowledge.dtypes.by_compiler, *knowledge.dtypes.by_name)
    for item in stated:
        name, _, value = item.partition("=")
        if value and value not in known:
            listed = f"the compiler casts to {', '.join(knowledge.dtypes.by_compiler)}"
            raise InputError(f'--assume {name}: there is no dtype "{value}"', hint=did_you_mean(value, known) or listed)


def _nki_options(request: Request, target: str) -> NkiOptions:
    return NkiOptions(
        version=request.nki_version,
        target=target,
        shapes=request.shapes,
        dtypes=request.dtypes,
        values=request.values,
        roots=request.nki_roots,
    )


def _empty(source: SourceFile) -> Program:
    return Program(side=Side.NKI, path=source.path, kernels=(), launches=())


def _included(program: Program) -> dict[str, SourceFile]:
    """The other files that operations and uses of `program` stand in."""
    places = (*(op.span for op in kernel_operations(program)), *(use.span for use in program.uses))
    paths = {span.path for span in places} - {program.path, ""}
    return {path: read_source(path) for path in sorted(paths)}


def _inputs(
    request: Request,
    cuda_source: SourceFile,
    nki_source: SourceFile,
    original: Program,
    port: Program,
    nki: Port,
) -> Inputs:
    evidence = nki.version_evidence
    why = (f"read as NKI {nki.version}: {'; '.join(evidence)}",) if evidence else ()
    return Inputs(
        cuda=_input(cuda_source, original, ""),
        nki=replace(_input(nki_source, port, nki.version), notes=(*port.notes, *why)),
        options=stated_options(request),
    )


def _input(source: SourceFile, program: Program, language_version: str) -> Input:
    return Input(
        path=source.path,
        sha256=hashlib.sha256(source.text.encode()).hexdigest(),
        kernels=tuple(launch.kernel for launch in program.launches),
        version=language_version,
        notes=program.notes,
    )


def program_of(
    path: str,
    names: Sequence[str] = (),
    *,
    defines: tuple[tuple[str, str], ...] = (),
    include_roots: tuple[str, ...] = (),
    nki_roots: tuple[str, ...] = (),
    target: str | None = None,
    nki_version: str | None = None,
    shapes: tuple[tuple[str, str], ...] = (),
    dtypes: tuple[tuple[str, str], ...] = (),
    values: tuple[tuple[str, str], ...] = (),
    read_port: Reader = read_nki,
) -> Program:
    """The program of one file: the kernels `names`, all of them without names; empty for a file without kernels.

    A Python file is a port if it holds NKI kernels; CUDA text in its strings is read where it holds none, or none of
    these names.
    """
    request = Request(
        cuda_path=path,
        nki_path=path,
        defines=defines,
        include_roots=include_roots,
        nki_roots=nki_roots,
        nki_version=nki_version,
        shapes=shapes,
        dtypes=dtypes,
        values=values,
    )
    _require_version(nki_version)
    knowledge = load()
    _require_dtypes(dtypes, knowledge)
    source = read_source(path, may_be_empty=True)
    module: CudaModule | Port
    if path.endswith(".py"):
        module = read_port(source, _nki_options(request, _target(target, knowledge)))
    else:
        module = read_cuda(source, cuda_options(request))
    known = [kernel.name for kernel in module.kernels]
    if path.endswith(".py") and (not known or not set(names) <= set(known)):
        original = read_cuda(source, cuda_options(request))
        written = [kernel.name for kernel in original.kernels]
        if not known or set(names) <= set(written):
            module, known = original, written
    if not known:
        check_parses(source)
    for name in names:
        if without_arguments(name) not in known:
            raise InputError(
                f"{path} has no kernel called {name}; it has {', '.join(known) or 'none'}",
                hint=did_you_mean(name, known) or f"portcheck list kernels {path}",
                path=path,
            )
    if isinstance(module, CudaModule):
        return module.lower(list(names) or list(module.instances))
    return _port_program(request, module, list(names) or known, source)


def _port_program(request: Request, module: Port, names: Sequence[str], source: SourceFile) -> Program:
    program = module.lower(names)
    if not program.kernels and module.problems:
        raise InputError(f"{source.path}: {module.problems[-1].message}", path=source.path)
    _require_stated(request, program, source)
    return program
