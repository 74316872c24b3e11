"""The launches of a chain in the names of the host function around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from portcheck.frontends.cuda.host.chains import is_connected
from portcheck.frontends.cuda.host.following import UNKNOWN, Host
from portcheck.frontends.cuda.host.launch import LaunchSite, unwrapped
from portcheck.frontends.cuda.model.constants import folded
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const, Expr, Kernel, Launch, Parameter, Symbol, symbols_in


@dataclass(frozen=True, slots=True)
class Lowered:
    """A kernel of a chain; `parameters` are those of the source in their order, None for one that is several."""

    kernel: Kernel
    parameters: tuple[Parameter | None, ...]


def chained_launch(state: State, lowered: Lowered, site: LaunchSite) -> Launch | None:
    """The launch at `site` in the names of the host; None where an argument is not followed."""
    host = Host(state, site.host, site.node, (*site.configuration, *site.arguments))
    arguments: list[tuple[str, str]] = []
    values: list[tuple[str, Expr]] = []
    with host.names():
        grid, block = (host.extents(site.configuration[place]) for place in (0, 1))
        shared = host.number(site.configuration[2]) if len(site.configuration) > 2 else None
        for parameter, node in zip(lowered.parameters, site.arguments, strict=True):
            given = _given(state, host, parameter, unwrapped(node)) if parameter is not None else None
            if parameter is None or given is None:
                return None
            if isinstance(given, str):
                arguments.append((parameter.name, given))
            else:
                values.append((parameter.name, given))
    is_zero = isinstance(shared, Const) and shared.value == 0
    extents = (*grid, *block, *(() if shared is None else (shared,)))
    if any(_may_differ(name) for extent in extents for name in symbols_in(extent)):
        return None
    return Launch(
        kernel=lowered.kernel.name, grid=grid, block=block, shared_bytes=None if is_zero else shared,
        span=site.node.span, arguments=tuple(arguments), values=tuple(values),
    )  # fmt: skip


def _given(state: State, host: Host, parameter: Parameter, node: Node) -> str | Expr | None:
    """What a parameter is: a name of the host, or a number in its names; None where it may differ each time."""
    if parameter.is_buffer:
        return node.text if node.type == "identifier" else None
    dtype = parameter.type.dtype
    with state.builder.region() as emitted:
        value = state.evaluate(node)
    if isinstance(value, Scalar) and not emitted:
        constant = folded(value)
        if isinstance(constant.expr, Const):
            with state.builder.region():
                number = convert(state, constant, dtype).expr
            return number if isinstance(number, Const) else None
    found = host.number(node)
    is_open = any(name.startswith(UNKNOWN) for name in symbols_in(found))
    if not isinstance(found, Const | Symbol) and found.dtype == dtype and dtype.is_integer and not is_open:
        return found
    if node.type == "identifier":
        return node.text
    name = f"{UNKNOWN}{' '.join(node.text.split())})"
    return None if _may_differ(name) else name


def _may_differ(name: str) -> bool:
    """Whether a number that is not understood comes from a call, which may give another one each time."""
    return name.startswith(UNKNOWN) and "(" in name.removeprefix(UNKNOWN)


def is_sound(lowered: Mapping[str, Lowered], launches: Sequence[Launch]) -> bool:
    """Whether the launches share what has one type and one meaning, and depend on each other."""
    dtypes: dict[str, object] = {}
    outside: set[str] = set()
    own: set[str] = set()
    for launch in launches:
        names = dict(launch.arguments)
        outside |= {*names.values(), *(name for _, value in launch.values for name in symbols_in(value))}
        for parameter in lowered[launch.kernel].kernel.parameters:
            if parameter.name not in names and parameter.name not in dict(launch.values):
                own.add(parameter.name)
            kind = (parameter.is_buffer, parameter.type.dtype if parameter.is_buffer else None)
            if dtypes.setdefault(names.get(parameter.name, parameter.name), kind) != kind and parameter.name in names:
                return False
    return not own & outside and is_connected({name: one.kernel for name, one in lowered.items()}, launches)
