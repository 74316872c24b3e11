"""From definitions to a program: template instances, parameters, axes, bodies, launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from portcheck.core.dtype import INT32
from portcheck.core.errors import InputError, did_you_mean
from portcheck.frontends.cuda.cooperation.groups import missing_dimensions
from portcheck.frontends.cuda.expressions.evaluate import evaluate
from portcheck.frontends.cuda.functions.calls import resolve_call
from portcheck.frontends.cuda.functions.changes import mutations_of
from portcheck.frontends.cuda.functions.construction import copied, made, made_array
from portcheck.frontends.cuda.functions.methods import number_of, operator_call
from portcheck.frontends.cuda.functions.parameters import bind_parameter, read_parameters, typed_parameter
from portcheck.frontends.cuda.host.chained import Lowered, chained_launch, is_sound
from portcheck.frontends.cuda.host.chains import the_chain
from portcheck.frontends.cuda.host.kernel_names import resolved, special_kernel
from portcheck.frontends.cuda.host.launch import LaunchSite, read_launch
from portcheck.frontends.cuda.host.launch_calls import launch_sites
from portcheck.frontends.cuda.host.launched import (
    MOST_INSTANCES,
    Bindings,
    Instance,
    agreed,
    constant_argument,
    instances,
    shown,
    specialisations,
)
from portcheck.frontends.cuda.host.repeats import hosts, is_repeated
from portcheck.frontends.cuda.memory.aims import without_aims
from portcheck.frontends.cuda.memory.pointer_variables import settled
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.frames import Binding, Scope
from portcheck.frontends.cuda.model.instances import instantiate
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import default_argument, fallback_type, template_parameters
from portcheck.frontends.cuda.model.types import (
    named_type,
    scalar_type,
    type_of,
)  # fmt: skip
from portcheck.frontends.cuda.model.values import CType, FunctionName, Scalar, TypeKind
from portcheck.frontends.cuda.options import CudaOptions
from portcheck.frontends.cuda.parsing.definitions import Function
from portcheck.frontends.cuda.parsing.parse import parse_expression
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.read_text import Text
from portcheck.frontends.cuda.statements.execute import execute, execute_all
from portcheck.ir import (
    Axis,
    AxisKind,
    Const,
    Kernel,
    Launch,
    OpaqueKind,
    Parameter,
    Program,
    Side,
    Symbol,
    ValueType,
)  # fmt: skip
from portcheck.knowledge import Semantics, load

Members = Mapping[str, tuple[Parameter, ...]]
"""The parameters of the source, in order, to those of the IR that they are."""


def lower(text: Text, options: CudaOptions, names: Sequence[str]) -> Program:
    """The program that launches the kernels `names` in this order; raises InputError for a name that is none.

    Kernels that are one chain are launched as the host function does.
    """
    program = _chain_program(text, options, {base_name(name) for name in names})
    if program is not None:
        return program
    state = _fresh_state(text, options)
    known = {function.name: function for function in reversed(text.definitions.kernels)}
    sites = _sites(state, text)
    kernels: list[Kernel] = []
    launches: list[Launch] = []
    for name in dict.fromkeys(names):
        function = known.get(base_name(name))
        if function is None:
            raise InputError(f"{text.path} has no kernel {name}", hint=did_you_mean(name, known), path=text.path)
        kernel, launch, _ = _kernel(
            state, function, _instance(state, text, function, (name, sites.get(function.name, [])))
        )
        kernels.append(kernel)
        launches.append(launch)
    if len(launches) == 1 and not _shares(kernels[0], launches[0]):
        launches = [replace(launches[0], arguments=())]
    return Program(
        side=Side.CUDA, path=text.path, kernels=tuple(kernels), launches=tuple(launches),
        notes=(*text.notes, *state.notes), flags=options.flags,
    )  # fmt: skip


def _shares(kernel: Kernel, launch: Launch) -> bool:
    """Whether a launch passes one buffer for several parameters."""
    buffers = {parameter.name for parameter in kernel.parameters if parameter.is_buffer}
    passed = [argument for name, argument in launch.arguments if name in buffers]
    return len(set(passed)) < len(passed)


def _chain_program(text: Text, options: CudaOptions, names: set[str]) -> Program | None:
    """The program of the one chain that is all launches of exactly these kernels; None where there is none."""
    state = _fresh_state(text, options)
    chain = the_chain(state, _all_sites(state, text), names)
    if chain is None:
        return None
    kernels: dict[str, Lowered] = {}
    launches: list[Launch] = []
    for site in chain.sites:
        function = next(one for one in text.definitions.kernels if one.name == site.name)
        found = instances(state, function, [site])
        if len(found) != bool(template_parameters(function.template)):
            return None
        instance = found[0] if found else Instance(site.name, {}, (site,))
        if instance.label not in kernels:
            kernel, _, members = _kernel(state, function, instance)
            kernels[instance.label] = Lowered(kernel, tuple(_only(name, parts) for name, parts in members.items()))
        launch = chained_launch(state, kernels[instance.label], site)
        if launch is None or any(
            len(launch.block) != len(one.block) for one in launches if one.kernel == launch.kernel
        ):
            return None
        launches.append(launch)
    if not is_sound(kernels, launches):
        return None
    said = f"{chain.host} launches {', '.join(launch.kernel for launch in launches)} one after the other: one program"
    return Program(
        side=Side.CUDA, path=text.path, kernels=tuple(one.kernel for one in kernels.values()),
        launches=tuple(launches), notes=(*text.notes, *state.notes, said), flags=options.flags,
        temporaries=chain.temporaries,
    )  # fmt: skip


def chain_of(text: Text, options: CudaOptions) -> tuple[str, ...]:
    """All kernels of the file if they are one chain, whose outputs all come from outside of the host function."""
    names = {function.name for function in text.definitions.kernels}
    state = _fresh_state(text, options)
    chain = the_chain(state, _all_sites(state, text), names) if len(names) > 1 else None
    if chain is None or not chain.is_closed or _chain_program(text, options, names) is None:
        return ()
    return tuple(dict.fromkeys(site.name for site in chain.sites))


def _only(name: str, parts: tuple[Parameter, ...]) -> Parameter | None:
    return parts[0] if len(parts) == 1 and parts[0].name == name else None


def _fresh_state(text: Text, options: CudaOptions) -> State:
    state = State(text.definitions, text.macros, load(), options)
    state.host_facts, state.host_calls = text.known.host_facts, text.known.host_calls
    state.evaluate = partial(evaluate, state)
    state.execute = partial(execute, state)
    state.execute_all = partial(execute_all, state)
    state.resolve_call = partial(resolve_call, state)
    state.instantiate = partial(instantiate, state)
    state.type_of = partial(type_of, state)
    state.make = partial(made, state)
    state.copy = partial(copied, state)
    state.make_array = partial(made_array, state)
    state.number_of = partial(number_of, state)
    state.operator_call = partial(operator_call, state)
    return state


def base_name(name: str) -> str:
    """The name of a kernel without template arguments."""
    return name.partition("<")[0].strip()


def instances_of(text: Text, options: CudaOptions) -> dict[str, tuple[str, ...]]:
    """Every kernel's name to what its instances are called; to itself where there are not several that differ."""
    state = _fresh_state(text, options)
    sites = _sites(state, text)
    found: dict[str, tuple[str, ...]] = {}
    for function in reversed(text.definitions.kernels):
        known = instances(state, function, sites.get(function.name, []))[:MOST_INSTANCES]
        own = [one.label for one in known if one.special is None]
        special = [one.label for one in specialisations(state, function)]
        found[function.name] = (*(own if len(own) > 1 else (function.name,)), *special)
    return found


def specialisations_of(text: Text, options: CudaOptions) -> tuple[str, ...]:
    """What the explicit specialisations of kernels are called."""
    state = _fresh_state(text, options)
    found = [one.label for function in text.definitions.kernels for one in specialisations(state, function)]
    return tuple(dict.fromkeys(found))


def _instance(state: State, text: Text, function: Function, asked: tuple[str, list[LaunchSite]]) -> Instance:
    """The instance called so; for a bare name what all instances have in common."""
    name, sites = asked
    launched = instances(state, function, sites)
    if name == function.name:
        special = [site for one in launched if one.special is not None for site in one.sites]
        own = [one for one in launched if one.special is None]
        if len(launched) == 1 and special:  # the template itself is never launched
            return replace(launched[0], label=name)
        mine = tuple(site for site in sites if site not in special)
        return Instance(name, agreed(state, function, own), mine, _stated_special(state, function))
    written = "".join(name.split())
    found = [*launched, *specialisations(state, function)]
    labels = list(dict.fromkeys(one.label for one in found))
    for one in found:
        if "".join(one.label.split()) == written:
            return one
    raise InputError(f"{text.path} has no kernel {name}", hint=did_you_mean(name, labels), path=text.path)


def _stated_special(state: State, function: Function) -> Function | None:
    """The explicit specialisation of a kernel for the template arguments that the user states."""
    defined = dict(state.options.defines)
    found: dict[str, Binding] = {}
    for name, _, is_type in template_parameters(function.template):
        binding = _stated(state, defined.get(name), is_type)
        if binding is None:
            return None
        found[name] = binding
    return special_kernel(state, function, found)


def _kernel(state: State, function: Function, instance: Instance) -> tuple[Kernel, Launch, Members]:
    return settled(state, partial(_attempt, state, function, instance))


def _attempt(state: State, function: Function, instance: Instance) -> tuple[Kernel, Launch, Members]:
    _reset(state)
    function = instance.special or function
    body, sites = function.body or function.node, list(instance.sites)
    _bind_templates(state, function, instance.bindings)
    parameters = read_parameters(state, function)
    with state.builder.region() as emitted:
        state.mutations = mutations_of(state, body)
        members = [bind_parameter(state, parameter, declared, body) for parameter, declared in parameters]
        with state.scope():
            _run(state, body)
    listed = [part for parts in members for part in parts] + state.template_parameters
    listed.extend(_file_variable(state, name) for name in state.file_variables)
    kernel = Kernel(
        name=instance.label, parameters=tuple(listed), axes=_axes(state), span=function.node.span,
        body=without_aims(state, (*state.hoisted, *emitted)),
    )  # fmt: skip
    names = [declared.name for _, declared in parameters]
    launch = _launch(state, function, names, sites)
    with missing_dimensions(state, launch.block) as is_missing:
        if is_missing:
            return _attempt(state, function, instance)
    launch = replace(launch, kernel=instance.label, is_repeated=_repeated(state, kernel, names, sites))
    named = {parameter.name: parts for (parameter, _), parts in zip(parameters, members, strict=True)}
    return kernel, _by_member(launch, named), named


def _by_member(launch: Launch, members: Members) -> Launch:
    """`launch` with the argument for a record given member by member, as the kernel takes it."""
    arguments = (
        (part.name, argument + part.name.removeprefix(name))
        for name, argument in launch.arguments
        for part in members[name]
    )
    return replace(launch, arguments=tuple(arguments))


def _all_sites(state: State, text: Text) -> list[LaunchSite]:
    """The launches written in the file, in order, with the name of the kernel each means."""
    if text.known.sites is None:
        text.known.sites = launch_sites(state, text.unit)
    return resolved(state, text.known.sites)


def _sites(state: State, text: Text) -> dict[str, list[LaunchSite]]:
    """The launches written in the file, by the name of the kernel."""
    found: dict[str, list[LaunchSite]] = {}
    for site in _all_sites(state, text):
        found.setdefault(site.name, []).append(site)
    return found


def _run(state: State, body: Node) -> None:
    if body.type == "ERROR":
        state.keep(body, "a kernel that does not parse")
        return
    try:
        execute_all(state, body.named)
    except RecursionError:
        state.keep(body, "text nested too deeply", kind=OpaqueKind.LIMIT)


def _reset(state: State) -> None:
    for unit in state.definitions.units:
        unit.forget()  # one kernel has little to do with the text of another
    state.scopes, state.buffers, state.hoisted, state.names = [Scope(state.builder.depth + 1)], {}, [], set()
    state.locals, state.kept, state.handed = set(), {}, {}
    state.template_parameters = []
    state.shared_once, state.axes, state.file_variables, state.views = {}, {}, {}, {}
    state.mask, state.depth, state.steps, state.instances, state.frames = None, 0, 0, [], []
    state.aims = {}
    state.small_symbols, state.undefined, state.ranked = set(), {}, set()


def _bind_templates(state: State, function: Function, launched: Bindings) -> None:
    """Template parameters of a kernel: stated, as launched, by default; else a symbol, or float for a type."""
    defined = dict(state.options.defines)
    for name, node, is_type in template_parameters(function.template):
        if not name:
            continue
        binding = _stated(state, defined.get(name), is_type) or launched.get(name)
        if binding is None:
            binding = default_argument(state, node, is_type)
        if binding is None and is_type:
            binding = fallback_type(state, name)
        dtype = None if is_type else (type_of(state, node.field("type")).dtype or INT32)
        if binding is None and dtype is not None:
            state.names.add(name)
            binding = Scalar(Symbol(name, dtype), dtype)
            if not dtype.is_integer:
                state.template_parameters.append(typed_parameter(state, name, scalar_type(dtype), node.span))
        elif isinstance(binding, Scalar) and dtype is not None:
            binding = convert(state, binding, dtype)
            state.note(f"{function.name}: template parameter {name} = {shown(binding)}")
        elif isinstance(binding, CType | FunctionName):
            state.note(f"{function.name}: template parameter {name} = {binding.name}")
        if binding is not None:
            state.bind(name, binding)


def _stated(state: State, text: str | None, is_type: bool) -> Binding | None:
    if text is None:
        return None
    if is_type:
        type_ = named_type(state, text)
        return type_ if type_.kind is not TypeKind.UNKNOWN else None
    expression = parse_expression(text, state.definitions.kernels[0].node.span)
    return constant_argument(state, expression) if expression is not None else None


def _file_variable(state: State, name: str) -> Parameter:
    buffer = state.buffers[name]
    space, span, initial = state.file_variables[name]
    shape = buffer.shape or (Const(1, INT32),)
    value_type = ValueType(buffer.dtype, shape, space)
    return Parameter(name=name, type=value_type, is_buffer=True, span=span, constant=buffer.constant, initial=initial)


def _axes(state: State) -> tuple[Axis, ...]:
    """The axes the kernel uses, grid first, each with the symbol of its extent."""
    names = {found.semantics: found.name for found in state.knowledge.variables}
    found: list[Axis] = []
    for semantics, extent, kind in (
        (Semantics.INDEX_BLOCK, Semantics.INDEX_GRID_SIZE, AxisKind.GRID),
        (Semantics.INDEX_THREAD, Semantics.INDEX_BLOCK_SIZE, AxisKind.BLOCK),
    ):
        for member in "xyz":
            name = f"{names.get(semantics, '')}.{member}"
            if name in state.axes:
                size = state.builtin(f"{names.get(extent, '')}.{member}", extent)
                found.append(Axis(name, kind, size.expr))
    return tuple(found)


def _repeated(state: State, kernel: Kernel, parameters: list[str], sites: list[LaunchSite]) -> bool:
    """Whether a host function launches `kernel` to other effect than once."""
    groups = hosts(sites)
    if len(groups) > 1:
        state.note(f"{kernel.name}: launched in {len(groups)} functions; the first launch is taken")
    if not groups or not is_repeated(state.definitions, kernel, groups[0], parameters):
        return False
    state.note(f"{kernel.name}: launched several times; what the launches do one after the other is not followed")
    return True


def _launch(state: State, function: Function, parameters: list[str], sites: list[LaunchSite]) -> Launch:
    """The launch the file's launches agree on; where they differ, nothing is chosen."""
    if not sites:
        return Launch(kernel=function.name)
    try:
        launches = [read_launch(state, function, parameters, site) for site in sites]
    except RecursionError:
        return Launch(kernel=function.name)
    first = launches[0]
    differing = [
        field
        for field in ("grid", "block", "shared_bytes")
        if any(getattr(other, field) != getattr(first, field) for other in launches[1:])
    ]
    for field in differing:
        state.note(f"{function.name}: its {len(launches)} launches differ in {field}; none is chosen")
    return replace(
        first, grid=() if "grid" in differing else first.grid, block=() if "block" in differing else first.block,
        shared_bytes=None if "shared_bytes" in differing else first.shared_bytes,
    )  # fmt: skip
