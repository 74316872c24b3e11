"""The rules, one decorated function each; the families are the sub-packages."""

from portcheck.rules._base import Draft, Example, Pair, Rule, Unparsed
from portcheck.rules.catalogue import all_rules, find_rule
from portcheck.rules.findings import judge, numbered

__all__ = ["Draft", "Example", "Pair", "Rule", "Unparsed", "all_rules", "find_rule", "judge", "numbered"]
