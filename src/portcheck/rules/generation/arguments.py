"""Arguments that a call of the target version does not take, or requires and does not get."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.ir.uses import NumberUse
from portcheck.knowledge import Form, Knowledge, NkiVersion
from portcheck.knowledge.fitting import nearest_parameters
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.generation.calls import Matter
from portcheck.rules.generation.examples import CUDA, HEAD, LEGACY_HEAD, PORT, TAIL
from portcheck.rules.generation.expected import enumeration_of, wanted
from portcheck.rules.generation.misuse import Blame, Misuse, misuses
from portcheck.rules.generation.wording import doubted, of_keyword, places, short, what_happens

_LEGACY = (
    "import neuronxcc.nki.isa as nisa\n" + LEGACY_HEAD + "    {}\n    nl.store(y[0:128, 0:cols], tile)\n    return y\n"
)
_RESULT = _LEGACY.format("tile = nisa.tensor_scalar(tile, nl.multiply, 2.0)")
_WRITTEN = _LEGACY.format("nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)")
_UNUSED = HEAD + "    tile = nisa.tensor_tensor(tile, tile, op=nl.add)\n" + TAIL
_MISSPELT = PORT.replace("operand0=2.0", "operand_0=2.0")
_HANDED_BACK = HEAD + "    tile = nisa.tensor_scalar(data=tile, op0=nl.multiply, operand0=2.0)\n" + TAIL
_POSITIONAL = HEAD + "    nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)\n" + TAIL
_OLD_ORDER = HEAD + "    nisa.dma_compute(tile, [tile, tile], [1.0, 1.0], nl.add)\n" + TAIL
_NUMBER = PORT.replace("operand0=2.0)", "operand0=2.0, engine=2)")
_TEXT = PORT.replace("buffer=nl.sbuf", 'buffer="sbuf"')


@rule(
    "PC805",
    "api-argument-unknown",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
A call gets a keyword that it does not have, or has not yet; does not get an argument that it requires, above all the
destination that calls of the current generation write; gets such a destination in the first generation, which hands
its results back; gets its arguments in the order of another version; or gets a number, a string or another name where
it takes a member of an enumeration, an operator or a memory space.

**What the version does.** A keyword that a call does not have is an error, except in the release of SDK 2.27, which
ignores it without a word. A missing argument is an error. Arguments in another order are an error if their kinds do not
fit, and compute something else if they do. Numbers for enumerations, and strings for memory spaces, are errors from
0.3; 0.2 took them. The vendor's own kernels for 0.3 have numbers for enumerations, against the release notes: that is
only a hint.

**How to fix.** Give every argument behind the tensors by keyword; the finding names the parameter that is meant.

**How we know.** The arguments are put to the parameters of the call in the target version, and their kinds to the roles
that these play. Calls whose parameters the vendor does not list, and arguments whose kind is not known, are not judged.
""",
    examples=(
        Example(title="by keyword", cuda=CUDA, nki=PORT, hit=False),
        Example(title="by position in the order of the version", cuda=CUDA, nki=_POSITIONAL, hit=False),
        Example(title="a number as an engine, which 0.2 takes", cuda=CUDA, nki=_NUMBER, hit=False, nki_version="0.2"),
        Example(title="a result of the first generation", cuda=CUDA, nki=_RESULT, hit=False),
        Example(title="misspelt", cuda=CUDA, nki=_MISSPELT, hit=True),
        Example(title="no destination: the result is handed back", cuda=CUDA, nki=_HANDED_BACK, hit=True),
        Example(title="the same by position", cuda=CUDA, nki=_UNUSED, hit=True),
        Example(title="a destination of the first generation", cuda=CUDA, nki=_WRITTEN, hit=True),
        Example(title="the order of 0.2", cuda=CUDA, nki=_OLD_ORDER, hit=True, nki_version="0.6"),
        Example(title="a number as an engine", cuda=CUDA, nki=_NUMBER, hit=True, nki_version="0.6"),
        Example(title="a string as a memory space", cuda=CUDA, nki=_TEXT, hit=True, nki_version="0.6"),
    ),
)
def api_argument_unknown(pair: Pair) -> Iterator[Draft]:
    """A call gets arguments that the target version does not take, or lacks one that it requires."""
    version = NkiVersion.parse(pair.nki.program.version)
    for item in misuses(pair.nki.program, pair.knowledge, Blame.ARGUMENT):
        message, remedy = _said(item, version, pair.knowledge)
        is_number = item.matter is Matter.KIND and NumberUse.__name__ in item.others
        is_doubted = is_number and _is_enumeration(item, version, pair.knowledge)
        certainty, because = doubted(pair.knowledge, Form.NUMBER_AS_ENUMERATION) if is_doubted else (None, ())
        yield Draft(message=message, remedy=remedy, nki=item.uses[0].span, certainty=certainty, because=because)


def _is_enumeration(item: Misuse, version: NkiVersion, knowledge: Knowledge) -> bool:
    form = knowledge.api(item.name, version)
    parameter = form.parameter(item.argument) if form is not None else None
    root = knowledge.releases.root_of(item.name)
    return parameter is not None and bool(enumeration_of(knowledge, parameter, root))


def _said(item: Misuse, version: NkiVersion, knowledge: Knowledge) -> tuple[str, str]:
    form = knowledge.api(item.name, version)
    assert form is not None
    call, where = f"`{short(item.name)}`", places(item.uses)
    refused = what_happens(str(version), None)
    match item.matter:
        case Matter.KEYWORD:
            near = nearest_parameters(form, item.argument)
            since = f" but since NKI {item.bound}" if item.bound else ""
            message = (
                f"{call} gets `{item.argument}=`{where}, a parameter that it does not have in NKI {version}{since}"
            )
            remedy = f"Is `{near[0]}` meant?" if near and not item.bound else "Leave it out or raise the version."
            return f"{message}: {of_keyword(knowledge, version)}.", remedy
        case Matter.DESTINATION:
            more = f" (and `{', '.join(item.others)}`, which only it had)" if item.others else ""
            message = (
                f"{call} hands its result back{where}, as in the first generation{more}; in NKI {version} it writes"
            )
            return f"{message} `{item.argument}`, which is not given: {refused}.", (
                f"Allocate a tile for the result and give it as `{item.argument}=`."
            )
        case Matter.WRITTEN:
            return (
                f"{call} gets `{item.argument}=`{where}, which calls have since NKI {item.bound}; in NKI {version} it"
                f" hands its result back, and nothing says that `{item.argument}` is written.",
                f"Use the result, or import `{knowledge.releases.newest.root}` and state its version.",
            )
        case Matter.MISSING:
            return (
                f"{call} does not get `{item.argument}`{where}, which it requires: {refused}.",
                f"Give `{item.argument}=`.",
            )
        case Matter.SURPLUS:
            return (
                f"{call} gets more arguments by position than it takes{where}: {refused}.",
                "Give the arguments behind the tensors by keyword.",
            )
        case Matter.ORDER:
            return (
                f"{call} gets its arguments{where} in the order of NKI {item.bound}: {refused}.",
                "Give the arguments behind the tensors by keyword.",
            )
        case _:
            parameter = form.parameter(item.argument)
            root = knowledge.releases.root_of(item.name)
            kind = wanted(knowledge, parameter, root) if parameter is not None else "something else"
            given = " and ".join(dict.fromkeys(_KINDS.get(word, "something else") for word in item.others))
            message = f"{call} gets {given} as `{item.argument}`{where}, which takes {kind}: {refused}."
            return message, f"Give {kind} as `{item.argument}=`."


_KINDS = {
    "TileUse": "a tensor",
    "NumberUse": "a number",
    "TextUse": "a string",
    "NameUse": "a name",
    "DTypeUse": "a dtype",
    "GroupUse": "a list",
    "NoneUse": "None",
}
