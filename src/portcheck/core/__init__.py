"""What every room may use: sources, dtypes, findings, the report, errors. Standard library only."""
