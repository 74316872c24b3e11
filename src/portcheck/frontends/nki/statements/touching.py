"""Which objects text that is not read may change: it says which attributes it assigns, and what it calls."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import libcst as cst

from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.source.imports import is_nki
from portcheck.frontends.nki.source.trees import inside
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.state.mutation import changing, lose
from portcheck.frontends.nki.values.arrays import ARRAY_LIBRARIES
from portcheck.frontends.nki.values.callables import Accessed, Bound, BoundMethod, Class, ClassKind, Function
from portcheck.frontends.nki.values.values import Either, External, Instance, Items, Package, Table, Unknown, Value
from portcheck.ir import OpaqueKind

_CHANGING = frozenset({
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
    "reverse", "setdefault", "sort", "update",
})  # fmt: skip
"""Methods of Python's lists, sets and dictionaries that change them."""
_BY_NAME = frozenset({"setattr", "delattr", "vars", "globals", "locals", "exec", "eval", "__setattr__", "__dict__"})
"""Names of Python by which attributes are set that the text does not name."""
_AT_BIRTH = frozenset({"__init__", "__post_init__"})
"""Methods that run when an object is made; what they assign to it is of an older object only where they are called."""
_CALLABLE = (Function, Bound, BoundMethod, Class, Accessed, Instance)


@dataclass(slots=True, eq=False)
class Touched:
    """What text may change: objects by these attributes, lists and dictionaries, or anything that it can reach.

    What a function does to an object that it makes itself, or that is being made, changes none that is there already.
    """

    attributes: set[str] = field(default_factory=set)
    at_birth: set[str] = field(default_factory=set)
    has_births: bool = False
    has_lists: bool = False
    has_all: bool = False

    def add(self, context: Context, frame: Frame, node: cst.CSTNode) -> None:
        """Adds what `node`, whose names are those of `frame`, may change itself."""
        text = _text_of(node)
        for name, attribute in text.attributes:
            if name and name == text.born:
                self.at_birth.add(attribute)
            elif name not in text.made or not all(_makes(frame.value(context, word)) for word in text.made[name]):
                self.attributes.add(attribute)
        self.has_lists = self.has_lists or text.has_lists
        self.has_all = self.has_all or text.has_all
        for called in text.called:
            self._add_call(context, frame, called)

    def _add_call(self, context: Context, frame: Frame, called: cst.CSTNode) -> None:
        words: list[str] = []
        while isinstance(called, cst.Attribute):
            words.append(called.attr.value)
            called = called.value
        if not isinstance(called, cst.Name):
            self.has_all = self.has_all or not words
            self.has_lists = self.has_lists or bool(words and words[0] in _CHANGING)
            return
        owner = frame.value(context, called.value)
        self.has_births = self.has_births or bool(words and words[0] in _AT_BIRTH)
        if words:
            self.has_lists = self.has_lists or words[0] in _CHANGING
            is_foreign = isinstance(owner, Package | Unknown)
        else:
            is_foreign = not isinstance(owner, _CALLABLE) and owner is not None
            is_foreign = is_foreign or (owner is None and not hasattr(builtins, called.value))
        if isinstance(owner, External):
            is_foreign = not _is_plain(owner.name)
        self.has_all = self.has_all or is_foreign

    def lose(self, context: Context, reason: str, value: Value | None) -> None:
        """From now on nothing is known of what may be changed of `value`, and of what it holds."""
        for item in _objects_in(value):
            if isinstance(item, Instance) and (item.owner.is_frozen or item.owner.kind is ClassKind.ENUMERATION):
                continue
            if isinstance(item, Instance) and not self.has_all and item.origin is None and not item.lost:
                self._lose_attributes(context, reason, item)
            elif self.has_all or self.has_lists or isinstance(item, Instance):
                lose(context, item, reason)

    def _lose_attributes(self, context: Context, reason: str, item: Instance) -> None:
        for name in sorted(self.attributes | self.at_birth if self.has_births else self.attributes):
            if name in item.held or found_in(item.owner, name) is not None:
                before = item.held.get(name)
                changing(context, item)
                text = context.fresh_symbol(name)
                item.held[name] = Unknown(text, reason, () if before is None else (before,), OpaqueKind.CONTROL)


@dataclass(frozen=True, slots=True)
class _Text:
    """What a text says of what it may change, whatever its names stand for, and what it calls.

    An attribute stands behind the name that it is one of, if it is that of a name; `made` are the names of a function
    that it binds to what it calls by other names alone, `born` is the object whose making it is part of.
    """

    attributes: frozenset[tuple[str, str]]
    has_lists: bool
    has_all: bool
    called: tuple[cst.CSTNode, ...]
    made: Mapping[str, tuple[str, ...]]
    born: str


@lru_cache(maxsize=4096)
def _text_of(node: cst.CSTNode) -> _Text:
    items = list(inside(node))
    targets = [target for item in items for target in _targets(item)]
    changes_name = any(isinstance(item, cst.AugAssign) and isinstance(item.target, cst.Name) for item in items)
    return _Text(
        frozenset(
            (_name_of(target.value), target.attr.value) for target in targets if isinstance(target, cst.Attribute)
        ),
        changes_name or any(isinstance(target, cst.Subscript) for target in targets),
        any(isinstance(item, cst.Name) and item.value in _BY_NAME for item in items),
        tuple(item.func for item in items if isinstance(item, cst.Call)),
        _made_in(node, items, targets) if isinstance(node, cst.FunctionDef) else {},
        _born_in(node, targets) if isinstance(node, cst.FunctionDef) else "",
    )


def _made_in(
    node: cst.FunctionDef, items: Sequence[cst.CSTNode], targets: Sequence[cst.CSTNode]
) -> dict[str, tuple[str, ...]]:
    """The names of a function that it binds by `name = Class(...)` alone, with the names that it calls for them."""
    found: dict[str, tuple[str, ...]] = {}
    for item in items:
        if isinstance(item, cst.Assign) and isinstance(item.value, cst.Call) and len(item.targets) == 1:
            name, called = _name_of(item.targets[0].target), _name_of(item.value.func)
            found[name] = (*found.get(name, ()), called)
    bound = [_name_of(target) for target in targets]
    others = {item.name.value for item in items if isinstance(item, cst.Param | cst.NameItem)} | _bound_in_passing(
        items
    )
    return {name: called for name, called in found.items() if name not in others and len(called) == bound.count(name)}


def _bound_in_passing(items: Sequence[cst.CSTNode]) -> set[str]:
    """The names that are bound inside of expressions and patterns."""
    found = {_name_of(item.target) for item in items if isinstance(item, cst.NamedExpr)}
    patterns = [item.name for item in items if isinstance(item, cst.MatchAs | cst.MatchStar)]
    return found | {_name_of(name) for name in patterns if name is not None}


def _born_in(node: cst.FunctionDef, targets: Sequence[cst.CSTNode]) -> str:
    """The first parameter of a method that runs when its object is made."""
    first = node.params.params[0].name.value if node.params.params else ""
    return first if node.name.value in _AT_BIRTH and first not in map(_name_of, targets) else ""


def _name_of(node: cst.CSTNode) -> str:
    return node.value if isinstance(node, cst.Name) else ""


def _makes(value: Value | None) -> bool:
    """Whether calling `value` makes a new object."""
    return isinstance(value, Class) and value.kind is not ClassKind.ENUMERATION and found_in(value, "__new__") is None


def _is_plain(name: str) -> bool:
    """Whether a function of this name, which is not in reach, changes no object that it is given."""
    root = name.partition(".")[0]
    return is_nki(name) or root in ARRAY_LIBRARIES or root in sys.stdlib_module_names or "." not in name


def _objects_in(value: Value | None) -> Iterator[Items | Table]:
    """The objects that `value` holds, or that both of two values do; a tuple stays what it is."""
    for item in reached_from(value):
        if isinstance(item, Either):
            yield from _objects_in(item.first)
            yield from _objects_in(item.second)
        elif isinstance(item, Table) or (isinstance(item, Items) and item.is_list):
            yield item


def _targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What `node` assigns to, taken apart."""
    pending: list[cst.CSTNode] = []
    if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor | cst.Del):
        pending.append(node.target)
    elif isinstance(node, cst.AsName):
        pending.append(node.name)
    while pending:
        item = pending.pop()
        if isinstance(item, cst.Tuple | cst.List):
            pending.extend(element.value for element in item.elements)
        else:
            yield item
