"""Writes the golden reports of tests/golden; with --check says which are stale and changes nothing."""

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


def reports() -> dict[Path, str]:
    """Every golden file with its text; paths in the reports are relative to the checkout."""
    found: dict[Path, str] = {}
    with contextlib.chdir(ROOT):
        for pair in PAIRS:
            analysis = check(Request(cuda_path=f"corpus/{pair}/kernel.cu", nki_path=f"corpus/{pair}/port.py"))
            for format_name, suffix in SUFFIXES.items():
                path = GOLDEN / f"{pair.replace('/', '.')}.{suffix}"
                found[path] = render(analysis.report, format_name, sources=analysis.sources)
    return found


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
