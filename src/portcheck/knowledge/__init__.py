"""What portcheck knows about CUDA, NKI, number formats and chips: the data of `mappings/`, typed and with sources."""

from portcheck.ir import Order
from portcheck.knowledge.apis import Api, ApiStatus, ApiVersion
from portcheck.knowledge.check import check, problems
from portcheck.knowledge.chips import Chip, Engine, Peak, Quantity, StartRule
from portcheck.knowledge.constructs import Construct, ConstructKind, ErrorBound
from portcheck.knowledge.dtypes import DTypeFacts, DTypeTable
from portcheck.knowledge.exceeding import Exceeding, LimitKind, Outcome, Simulated
from portcheck.knowledge.forms import Form, Reception, Ruling
from portcheck.knowledge.limits import Limit
from portcheck.knowledge.load import Knowledge, load
from portcheck.knowledge.meanings import Change
from portcheck.knowledge.objects import Activation, NkiSpace, ObjectTable, OperatorForm, OperatorObject, TileConstant
from portcheck.knowledge.operands import (
    ANY,
    BoundsRule,
    CallFacts,
    Mode,
    NanRule,
    OperandFacts,
    Pairing,
    Scope,
    Together,
)
from portcheck.knowledge.releases import Release
from portcheck.knowledge.schema import UNKNOWN, Unknown
from portcheck.knowledge.semantics import Semantics
from portcheck.knowledge.signatures import VALUE_NEUTRAL, WRITTEN, Parameter, Role
from portcheck.knowledge.sizes import Size
from portcheck.knowledge.stubs import StubFacts
from portcheck.knowledge.versions import NkiVersion

__all__ = [
    "ANY",
    "UNKNOWN",
    "VALUE_NEUTRAL",
    "WRITTEN",
    "Activation",
    "Api",
    "ApiStatus",
    "ApiVersion",
    "BoundsRule",
    "CallFacts",
    "Change",
    "Chip",
    "Construct",
    "ConstructKind",
    "DTypeFacts",
    "DTypeTable",
    "Engine",
    "ErrorBound",
    "Exceeding",
    "Form",
    "Knowledge",
    "Limit",
    "LimitKind",
    "Mode",
    "NanRule",
    "NkiSpace",
    "NkiVersion",
    "ObjectTable",
    "OperatorForm",
    "OperandFacts",
    "OperatorObject",
    "Order",
    "Outcome",
    "Pairing",
    "Parameter",
    "Peak",
    "Quantity",
    "Reception",
    "Release",
    "Role",
    "Scope",
    "Ruling",
    "Semantics",
    "Simulated",
    "Size",
    "StartRule",
    "StubFacts",
    "TileConstant",
    "Together",
    "Unknown",
    "check",
    "load",
    "problems",
]


def __dir__() -> list[str]:
    return __all__
