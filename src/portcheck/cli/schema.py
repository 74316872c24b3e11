"""`portcheck schema`: the JSON Schema of the report."""

from __future__ import annotations

from portcheck.cli.writing import write_data


def schema() -> None:
    """Print the JSON Schema of the report."""
    from portcheck.reporting import schema as json_schema

    write_data(json_schema())
