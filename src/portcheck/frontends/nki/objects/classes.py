"""Classes of a port: what their text defines, and in which order a name is looked for among their bases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from portcheck.frontends.nki.objects.enumerations import make_members
from portcheck.frontends.nki.objects.functions import decorated, define_function
from portcheck.frontends.nki.source.imports import is_nki
from portcheck.frontends.nki.source.trees import children
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.callables import Accessed, Class, ClassKind, Function
from portcheck.frontends.nki.values.values import External, Value
from portcheck.knowledge import Semantics

_PLAIN_PACKAGES = frozenset({"abc", "typing", "typing_extensions", "collections", "enum"})
_PLAIN_BUILTINS = frozenset({"object", "int", "str", "float", "Exception", "ValueError", "RuntimeError", "TypeError"})
_ENUMERATIONS = frozenset({"enum.Enum", "enum.IntEnum", "enum.Flag", "enum.IntFlag", "enum.StrEnum"})
_TUPLES = frozenset({"typing.NamedTuple"})


def define_class(context: Context, frame: Frame, node: cst.ClassDef) -> Value:
    """The class that `node` defines, decorated."""
    bases = tuple(_base(context, frame, argument.value) for argument in node.bases)
    others = [context.evaluate(context, frame, argument.value, "") for argument in node.keywords]
    is_known = all(_is_plain(context, value) for value in (*bases, *others))
    made = Class(node.name.value, bases, {}, {}, frame, _kind(bases), is_known)
    _run_body(context, frame, node, made)
    if made.kind is ClassKind.ENUMERATION:
        make_members(context, made)
    return decorated(context, frame, made, node.decorators)


def _base(context: Context, frame: Frame, node: cst.BaseExpression) -> Value:
    """A base, without the types that a generic one is given."""
    return context.evaluate(context, frame, node.value if isinstance(node, cst.Subscript) else node, "")


def _kind(bases: Sequence[Value]) -> ClassKind:
    for base in bases:
        if isinstance(base, Class) and base.kind in (ClassKind.ENUMERATION, ClassKind.TUPLE):
            return base.kind
        if isinstance(base, External) and base.name in _ENUMERATIONS:
            return ClassKind.ENUMERATION
        if isinstance(base, External) and base.name in _TUPLES:
            return ClassKind.TUPLE
    return ClassKind.PLAIN


def _is_plain(context: Context, base: Value) -> bool:
    """Whether a base adds no names that matter."""
    if isinstance(base, Class):
        return base.is_known
    if not isinstance(base, External):
        return False
    if is_nki(base.name):
        entry = context.knowledge.api_in_any_version(base.name)
        return entry is not None and entry.latest.semantics is Semantics.TYPE
    return base.name.partition(".")[0] in _PLAIN_PACKAGES or base.name in _PLAIN_BUILTINS


def _run_body(context: Context, frame: Frame, node: cst.ClassDef, made: Class) -> None:
    """The names of the body, in order."""
    inner = Frame(frame.segment, frame, frame.depth)
    inner.names = made.names
    for statement in node.body.body:
        if isinstance(statement, cst.FunctionDef):
            made.names[statement.name.value] = define_function(context, inner, statement, made)
            continue
        for part in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(part, cst.AnnAssign) and isinstance(part.target, cst.Name) and not _is_shared(part):
                made.annotated[part.target.value] = part.annotation.annotation
        context.run(context, inner, [statement])


def _is_shared(part: cst.AnnAssign) -> bool:
    """Whether an annotation says that the name is the class's own."""
    annotation = part.annotation.annotation
    if isinstance(annotation, cst.Subscript):
        annotation = annotation.value
    name = annotation.attr if isinstance(annotation, cst.Attribute) else annotation
    return isinstance(name, cst.Name) and name.value == "ClassVar"


def order_of(owner: Class) -> list[Class]:
    """The class and the classes of the port that it derives from, in the order in which names are looked for."""
    found: list[Class] = []
    entered: set[int] = set()
    stack: list[tuple[Class, bool]] = [(owner, False)]
    while stack:
        item, is_done = stack.pop()
        if is_done:
            found.append(item)
        elif id(item) not in entered:
            entered.add(id(item))
            stack.append((item, True))
            stack.extend((base, False) for base in item.bases if isinstance(base, Class))
    return found[::-1]


def found_in(owner: Class, name: str, behind: Class | None = None) -> Value | None:
    """What the class, or one it derives from, binds `name` to; only what comes behind the class `behind`."""
    order = order_of(owner)
    start = order.index(behind) + 1 if behind in order else 0
    return next((item.names[name] for item in order[start:] if name in item.names), None)


def derives_from(owner: Class, kind: Value) -> bool | None:
    """Whether objects of the class are of the class `kind`; None when that is not known."""
    if isinstance(kind, Class):
        return kind in order_of(owner) or (None if not owner.is_known else False)
    if isinstance(kind, External):
        names = {base.name for item in order_of(owner) for base in item.bases if isinstance(base, External)}
        return kind.name in names or kind.name == "object" or (False if owner.is_known else None)
    return None


def functions_of(owner: Class) -> Iterator[Function]:
    """The functions in the body of the class and of those it derives from."""
    for item in order_of(owner):
        for value in item.names.values():
            parts = (value.function, value.setter) if isinstance(value, Accessed) else (value,)
            yield from (part for part in parts if isinstance(part, Function))


_AT_BIRTH = frozenset({"__init__", "__post_init__"})


def changed_by_methods(owner: Class) -> set[str]:
    """The attributes that methods of the class assign, those aside that run when an object is made, or may change."""
    found: set[str] = set()
    pending: list[cst.CSTNode] = [item.node for item in functions_of(owner) if item.name not in _AT_BIRTH]
    while pending:
        node = pending.pop()
        pending.extend(children(node))
        changed: cst.CSTNode | None = None
        if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.Del):
            changed = node.target
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            changed = node.func.value
        while isinstance(changed, cst.Subscript):
            changed = changed.value
        if isinstance(changed, cst.Attribute):
            found.add(changed.attr.value)
    return found
