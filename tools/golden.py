"""Writes the golden reports of tests/golden and the excerpt in the README; with --check says which are stale."""

import contextlib
import sys
from pathlib import Path

from portcheck.pipeline import Request, check
from portcheck.reporting import render

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
PAIRS = (
    "elementwise/axpy_guard",
    "row_reduction/rmsnorm_floor_tiles",
    "row_reduction/rowsum_double",
)
SUFFIXES = {"terminal": "txt", "markdown": "md", "json": "json"}

README = ROOT / "README.md"
SHOWN_PAIR = "row_reduction/rmsnorm_floor_tiles"
SHOWN_SECTIONS = ("Outputs", "Reductions", "Findings")
BEGIN, END = "<!-- written by make golden -->\n", "<!-- until here -->\n"


def reports() -> dict[Path, str]:
    """Every golden file with its text; paths in the reports are relative to the checkout."""
    found: dict[Path, str] = {}
    with contextlib.chdir(ROOT):
        for pair in PAIRS:
            analysis = check(Request(cuda_path=f"corpus/{pair}/kernel.cu", nki_path=f"corpus/{pair}/port.py"))
            for format_name, suffix in SUFFIXES.items():
                found[golden_file(pair, suffix)] = render(analysis.report, format_name, sources=analysis.sources)
    found[README] = readme(found[golden_file(SHOWN_PAIR, "txt")])
    return found


def golden_file(pair: str, suffix: str) -> Path:
    return GOLDEN / f"{pair.replace('/', '.')}.{suffix}"


def readme(report: str) -> str:
    """The README with an excerpt of `report` between its two marks."""
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}```text\n{excerpt(report)}\n```\n{END}{after}"


def excerpt(report: str) -> str:
    """The verdict, the sections worth a first look, and the first finding."""
    sections: list[list[str]] = []
    for line in report.splitlines():
        if line and not line.startswith(" "):
            sections.append([])
        sections[-1].append(line)
    headline, *others = sections
    shown = [headline, *(section for section in others if section[0].startswith(SHOWN_SECTIONS))]
    findings = [at for at, line in enumerate(shown[-1]) if line.startswith("  PC")]
    if len(findings) > 1:
        del shown[-1][findings[1] :]
    return "\n".join(line for section in shown for line in section).rstrip()


def left_over(wanted: dict[Path, str]) -> list[Path]:
    """Reports of a pair or format that is no longer among the golden ones."""
    return [path for path in GOLDEN.glob("*.*") if path not in wanted and path.suffix[1:] in SUFFIXES.values()]


def stale(wanted: dict[Path, str]) -> list[Path]:
    """The golden files that are missing, differ, or should not be there."""
    changed = [path for path, text in wanted.items() if not path.exists() or path.read_bytes() != text.encode()]
    return sorted(changed + left_over(wanted))


def main(arguments: list[str]) -> int:
    wanted = reports()
    if "--check" in arguments:
        names = [path.relative_to(ROOT).as_posix() for path in stale(wanted)]
        for name in names:
            print(f"stale: {name} (run make golden)")
        return 1 if names else 0
    for path in left_over(wanted):
        path.unlink()
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for path, text in wanted.items():
        path.write_bytes(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
