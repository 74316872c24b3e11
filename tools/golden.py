"""Writes the golden reports of tests/golden; with --check says which are stale and changes nothing."""

import os
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
    os.chdir(ROOT)
    found: dict[Path, str] = {}
    for pair in PAIRS:
        analysis = check(Request(cuda_path=f"corpus/{pair}/kernel.cu", nki_path=f"corpus/{pair}/port.py"))
        for format_name, suffix in SUFFIXES.items():
            path = GOLDEN / f"{pair.replace('/', '.')}.{suffix}"
            found[path] = render(analysis.report, format_name, sources=analysis.sources)
    return found


def main(arguments: list[str]) -> int:
    wanted = reports()
    changed = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    left_over = [path for path in GOLDEN.glob("*.*") if path not in wanted and path.suffix[1:] in SUFFIXES.values()]
    if "--check" in arguments:
        for path in sorted(changed + left_over):
            print(f"stale: {path.relative_to(ROOT).as_posix()} (run make golden)")
        return 1 if changed or left_over else 0
    for path in left_over:
        path.unlink()
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for path in changed:
        path.write_text(wanted[path], encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
