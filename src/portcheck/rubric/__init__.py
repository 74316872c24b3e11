"""From findings and outcomes to the verdict."""

from portcheck.rubric.report import report_of
from portcheck.rubric.verdict import EXIT_FINDINGS, exit_code, summary, verdict

__all__ = ["EXIT_FINDINGS", "exit_code", "report_of", "summary", "verdict"]
