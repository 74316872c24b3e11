"""What portcheck knows about CUDA, NKI, number formats and chips: the data of `mappings/`, typed and with sources."""

from portcheck.ir import Order
from portcheck.knowledge.apis import Api, ApiStatus, ApiVersion
from portcheck.knowledge.check import check, problems
from portcheck.knowledge.chips import Chip, Engine, Peak, Quantity, StartRule
from portcheck.knowledge.constructs import Construct, ConstructKind, ErrorBound
from portcheck.knowledge.dtypes import DTypeFacts, DTypeTable
from portcheck.knowledge.limits import Limit
from portcheck.knowledge.load import Knowledge, load
from portcheck.knowledge.objects import Activation, NkiSpace, ObjectTable, OperatorForm, OperatorObject, TileConstant
from portcheck.knowledge.schema import UNKNOWN, Unknown
from portcheck.knowledge.semantics import Semantics
from portcheck.knowledge.signatures import VALUE_NEUTRAL, WRITTEN, Parameter, Role
from portcheck.knowledge.stubs import StubFacts
from portcheck.knowledge.versions import NkiVersion

__all__ = [
    "UNKNOWN",
    "VALUE_NEUTRAL",
    "WRITTEN",
    "Activation",
    "Api",
    "ApiStatus",
    "ApiVersion",
    "Chip",
    "Construct",
    "ConstructKind",
    "DTypeFacts",
    "DTypeTable",
    "Engine",
    "ErrorBound",
    "Knowledge",
    "Limit",
    "NkiSpace",
    "NkiVersion",
    "ObjectTable",
    "OperatorForm",
    "OperatorObject",
    "Order",
    "Parameter",
    "Peak",
    "Quantity",
    "Role",
    "Semantics",
    "StartRule",
    "StubFacts",
    "TileConstant",
    "Unknown",
    "check",
    "load",
    "problems",
]


def __dir__() -> list[str]:
    return __all__
