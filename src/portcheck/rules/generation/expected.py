"""What an argument must be by the role it plays, and whether what is given can be that."""

from __future__ import annotations

from portcheck.ir import Const
from portcheck.ir.uses import DTypeUse, GroupUse, NameUse, NoneUse, NumberUse, OperandUse, OtherUse, TextUse, TileUse
from portcheck.knowledge import Knowledge, Parameter, Role
from portcheck.knowledge.apis import ApiVersion

_OPERATORS = frozenset(
    {Role.OPERATOR, Role.OPERATOR0, Role.OPERATOR1, Role.REDUCE_OPERATOR, Role.COMPARISON0, Role.COMPARISON1}
)
_TILES = frozenset({Role.DESTINATION, Role.REDUCE_DESTINATION, Role.SOURCE, Role.SOURCES, Role.STATIONARY, Role.MOVING})
Kinds = tuple[type, ...]


def wanted(knowledge: Knowledge, parameter: Parameter, root: str) -> str:
    """What an argument for `parameter` must be, in words; "" where nothing is certain."""
    if enumeration_of(knowledge, parameter, root):
        return f"a member of `{enumeration_of(knowledge, parameter, root)}`"
    if parameter.role in _OPERATORS:
        return "an operator"
    if parameter.role in _TILES:
        return "a tensor"
    return {Role.BUFFER: "a memory space", Role.DTYPE: "a dtype", Role.SHAPE: "a shape", Role.STEP: "a number"}.get(
        parameter.role, ""
    )


def can_be(knowledge: Knowledge, parameter: Parameter, operand: OperandUse, root: str) -> bool:
    """Whether `operand` may be given for `parameter`; True where that cannot be told."""
    if isinstance(operand, OtherUse | NoneUse):
        return True
    if isinstance(operand, NumberUse) and not isinstance(operand.value, Const):
        return True  # a parameter of the kernel may be anything
    if isinstance(operand, NameUse) and not _may_name(knowledge, parameter, operand.name, root):
        return False
    if isinstance(operand, TextUse) and operand.text in _members(knowledge, parameter, root):
        return True  # the vendor's own kernels write members by name; nothing says that these are refused
    return isinstance(operand, _allowed(knowledge, parameter, root))


def _may_name(knowledge: Knowledge, parameter: Parameter, name: str, root: str) -> bool:
    """False for a dtype in place of a member of an enumeration, and for a function in place of an operator."""
    if enumeration_of(knowledge, parameter, root):
        return knowledge.dtype(name.rpartition(".")[2]) is None
    is_function = parameter.role in _OPERATORS and name.startswith("nki.") and name in knowledge.apis
    return not is_function or knowledge.operator_object(name) is not None


def _members(knowledge: Knowledge, parameter: Parameter, root: str) -> tuple[str, ...]:
    return knowledge.enumeration(enumeration_of(knowledge, parameter, root)) or ()


def _allowed(knowledge: Knowledge, parameter: Parameter, root: str) -> Kinds:
    if enumeration_of(knowledge, parameter, root):
        return (NameUse,)
    if parameter.role in _OPERATORS:
        return (NameUse, NoneUse)
    if parameter.role in _TILES:
        return (TileUse, GroupUse, NumberUse)
    match parameter.role:
        case Role.BUFFER:
            return (NameUse, NoneUse)
        case Role.DTYPE:
            return (NameUse, DTypeUse, TextUse, NoneUse)
        case Role.SHAPE:
            return (GroupUse, NumberUse)
        case Role.STEP:
            return (NumberUse, NoneUse)
        case _:
            return (object,)


def enumeration_of(knowledge: Knowledge, parameter: Parameter, root: str) -> str:
    """The enumeration whose member is the default of `parameter`, by its qualified name; "" for none."""
    owner, dot, member = (parameter.default or "").rpartition(".")
    if not dot:
        return ""
    for name, members in knowledge.objects.enumerations.items():
        if name.startswith(f"{root}.") and name.rpartition(".")[2] == owner.rpartition(".")[2] and member in members:
            return name
    return ""


def slots_of(form: ApiVersion) -> list[Parameter]:
    """The parameters that take arguments by position."""
    names = [parameter.name for parameter in form.parameters]
    taken = names.index("*") if "*" in names else len(names)
    return [parameter for parameter in form.parameters[:taken] if not parameter.name.startswith("*")]
