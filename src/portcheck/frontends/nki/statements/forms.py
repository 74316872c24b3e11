"""The forms of Python in a kernel's text that some version's compiler does not take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from portcheck.frontends.nki.source.parse import Segment
from portcheck.frontends.nki.source.trees import inner_children
from portcheck.frontends.nki.values.callables import Function
from portcheck.ir.uses import Use, UseKind
from portcheck.knowledge import Form


def forms_in(function: Function, *, is_kernel: bool, marks: Sequence[cst.Decorator]) -> Iterator[Use]:
    """The forms in the text of one function; `marks` are the decorators that make a kernel of it."""
    node, segment = function.node, function.segment
    if is_kernel:
        yield from (_use(form, place, segment) for form, place in _of_kernel(node))
    else:
        yield from (_use(Form.DECORATED_HELPER, mark, segment) for mark in marks)
    stack: list[cst.CSTNode] = [node.body]
    while stack:
        item = stack.pop()
        form = _form_of(item) if type(item) in _KINDS else None
        if form is not None:
            yield _use(form, item, segment)
        stack.extend(reversed(inner_children(item)))


def _use(form: Form, node: cst.CSTNode, segment: Segment) -> Use:
    return Use(kind=UseKind.FORM, name=form.value, span=segment.span(node))


_KINDS = frozenset({cst.Comparison, cst.Yield, cst.Dict})


def _form_of(node: cst.CSTNode) -> Form | None:
    match node:
        case cst.Comparison(comparisons=parts) if any(isinstance(part.operator, cst.Is | cst.IsNot) for part in parts):
            is_with_none = len(parts) == 1 and _is_none(parts[0].comparator)
            return Form.IDENTITY_WITH_NONE if is_with_none else Form.IDENTITY
        case cst.Yield():
            return Form.GENERATOR
        case cst.Dict(elements=elements) if any(_has_other_key(element) for element in elements):
            return Form.DICTIONARY_KEY
        case _:
            return None


def _is_none(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _has_other_key(element: cst.BaseDictElement) -> bool:
    return isinstance(element, cst.DictElement) and isinstance(element.key, cst.Integer | cst.Float | cst.Tuple)


def _of_kernel(function: cst.FunctionDef) -> Iterator[tuple[Form, cst.CSTNode]]:
    parameters = function.params
    if isinstance(parameters.star_arg, cst.ParamStar):
        yield Form.KEYWORD_ONLY, function.name
    for parameter in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params):
        if isinstance(parameter.default, cst.List) or _is_list(parameter.annotation):
            yield Form.LIST_PARAMETER, parameter


def _is_list(annotation: cst.Annotation | None) -> bool:
    stated = annotation.annotation if annotation is not None else None
    stated = stated.value if isinstance(stated, cst.Subscript) else stated
    return isinstance(stated, cst.Name) and stated.value in ("list", "List")
