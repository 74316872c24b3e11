"""A port read in a process of its own says what one read here says, and the death of that process is a finding.

Every script runs in a fresh interpreter: beside threads, which a test runner may have, nothing is forked.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

ROOT = Path(__file__).parents[3]
PAIR = ROOT / "corpus" / "row_reduction" / "layernorm_two_pass"
PAIRS = (
    PAIR,
    ROOT / "corpus" / "row_reduction" / "rmsnorm_floor_tiles",
    *sorted(path.parent for path in (ROOT / "corpus").glob("*/*/kernel.cu"))[::7],
)

BOTH_WAYS = """
import sys
from portcheck.frontends.nki import read_nki, reader
from portcheck.pipeline import Request, check
from portcheck.reporting import render
for folder in sys.argv[1:]:
    request = Request(cuda_path=folder + "/kernel.cu", nki_path=folder + "/port.py")
    with reader() as apart:
        assert apart is not read_nki
        there = check(request, read_port=apart)
    assert "libcst" not in sys.modules or folder != sys.argv[1]
    here = check(request)
    assert there == here
    for name in ("terminal", "json", "markdown"):
        assert render(there.report, name, sources=there.sources) == render(here.report, name, sources=here.sources)
"""

# What the child runs is replaced before it is forked. `FAULT` is what lowering does, `LIMITS` what it may take.
FAULTY = """
import os, signal, sys, time
from portcheck.core.errors import InputError
from portcheck.frontends.nki import reader
from portcheck.frontends.nki.module import NkiModule
from portcheck.frontends.nki.worker import Limits
from portcheck.pipeline import Request, check
def fault(*_):
    FAULT
NkiModule.lower = fault
with reader(LIMITS) as apart:
    report = check(Request(cuda_path=sys.argv[1], nki_path=sys.argv[2]), read_port=apart).report
[finding] = [found for found in report.findings if found.code == "PC002"]
print(report.verdict.value, finding.nki.span.start.line, finding.message)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
"""

# A process that is started in the background of a script ignores the signal.
LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

RAISING = """
import sys
from portcheck.core.errors import InputError
from portcheck.frontends.nki import reader
from portcheck.frontends.nki.module import NkiModule
from portcheck.pipeline import Request, check
def fault(*_):
    raise InputError("no", "hint", path="p.py", line=3, column=2, excerpt="e")
NkiModule.lower = fault
try:
    with reader() as apart:
        check(Request(cuda_path=sys.argv[1], nki_path=sys.argv[2]), read_port=apart)
except InputError as error:
    print(error.message, error.hint, error.path, error.line, error.column, error.excerpt, error.exit_code)
"""

TOO_DEEP = """
import sys
import portcheck.frontends.nki.worker as worker
from portcheck.ir import Program
from portcheck.pipeline import Request, check
class Shallow(type(sys)):
    def dumps(self, value, *protocol):
        if isinstance(value, Program):
            raise RecursionError
        return self.real.dumps(value, *protocol)
    def __getattr__(self, name):
        return getattr(self.real, name)
shallow = Shallow("shallow")
shallow.real, worker.pickle = worker.pickle, shallow
request = Request(cuda_path=sys.argv[1], nki_path=sys.argv[2])
with worker.reader() as apart:
    there = check(request, read_port=apart)
print("same" if there == check(request) else "different", "libcst" in sys.modules)
"""

COMMAND = """
import sys
from portcheck.cli import main
try:
    main()
finally:
    assert "libcst" not in sys.modules and "tree_sitter" in sys.modules
"""


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *(str(argument) for argument in arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    environment.pop("PORTCHECK_DEBUG", None)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def faulty(fault: str, limits: str = "Limits()") -> subprocess.CompletedProcess[str]:
    return run(FAULTY.replace("FAULT", fault).replace("LIMITS", limits), PAIR / "kernel.cu", PAIR / "port.py")


def test_both_ways_of_reading_give_the_same_report() -> None:
    done = run(BOTH_WAYS, *dict.fromkeys(PAIRS))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_leaves_libcst_to_the_child() -> None:
    done = run(COMMAND, "diff", PAIR / "kernel.cu", PAIR / "port.py", "--fail-on", "never")
    assert (done.returncode, done.stderr) == (0, "")
    assert "layernorm" in done.stdout


@pytest.mark.parametrize(
    ("fault", "limits", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "Limits()", "the process that read it ended (signal 11)."),
        ("os._exit(3)", "Limits()", "the process that read it ended (code 3)."),
        ("time.sleep(60)", "Limits(seconds=2)", "reading it takes more than 2 seconds."),
        ("bytearray(1 << 31)", "Limits(memory=1 << 30)", "reading it takes more than 1024 MiB of memory."),
        ("print('x'); sys.stderr.write('y'); os.write(1, b'z'); os.abort()", "Limits()", "ended (signal 6)."),
    ],
)
def test_a_child_that_dies_or_takes_too_much_is_a_finding(fault: str, limits: str, said: str) -> None:
    done = faulty(fault, limits)
    assert done.stderr == ""
    shown, last = done.stdout.splitlines()
    line = next(
        number for number, text in enumerate((PAIR / "port.py").read_text().splitlines(), 1) if "nki.jit" in text
    )
    assert shown.startswith(f"not-faithful {line} ")
    assert shown.endswith(said)
    assert last == "no child is left"


def test_a_child_that_dies_before_it_was_asked_is_a_finding() -> None:
    early = "import portcheck.frontends.nki.worker as worker; worker.load_parser = fault"
    script = FAULTY.replace("NkiModule.lower = fault", early).replace("FAULT", "os._exit(4)").replace("LIMITS", "")
    done = run(script, PAIR / "kernel.cu", PAIR / "port.py")
    assert done.stderr == ""
    assert "the process that read it ended (code 4)" in done.stdout


def test_what_the_child_raises_arrives_as_it_was() -> None:
    done = run(RAISING, PAIR / "kernel.cu", PAIR / "port.py")
    assert (done.stdout, done.stderr) == ("no hint p.py 3 2 e 2\n", "")


def test_an_answer_too_deep_to_be_sent_is_read_again_here() -> None:
    done = run(TOO_DEEP, PAIR / "kernel.cu", PAIR / "port.py")
    assert (done.stdout, done.stderr) == ("same True\n", "")


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_the_child_ends_with_its_parent(ending: signal.Signals, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    fault = f"open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    script = LISTENING + FAULTY.replace("FAULT", fault).replace("LIMITS", "")
    command = [sys.executable, "-c", script, str(PAIR / "kernel.cu"), str(PAIR / "port.py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    parent = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: noted.exists() and noted.read_text() != "")
        parent.send_signal(ending)
        assert parent.wait(20) != 0
        assert until(lambda: not is_running(int(noted.read_text())))
    finally:
        parent.kill()  # nothing, where it has ended
        parent.wait()


def until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")
