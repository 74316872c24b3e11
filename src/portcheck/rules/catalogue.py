"""The catalogue: every rule found in the families of this package, by code."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from portcheck.core.errors import InputError, nearest
from portcheck.rules._base import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in order of codes."""
    package = import_module("portcheck.rules")
    found: dict[str, Rule] = {}
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, Rule):
                found[value.code] = value
    return tuple(found[code] for code in sorted(found))


def find_rule(code_or_name: str) -> Rule:
    """The rule called `code_or_name`, whatever its case. Raises InputError with the nearest names."""
    wanted = code_or_name.strip().lower()
    for rule in all_rules():
        if wanted in (rule.code.lower(), rule.name):
            return rule
    known = [name for rule in all_rules() for name in (rule.code, rule.name)]
    guess = nearest(code_or_name, known)
    hint = f"did you mean {guess}?" if guess else "portcheck list rules shows all of them"
    raise InputError(f"there is no rule called {code_or_name}", hint=hint)
