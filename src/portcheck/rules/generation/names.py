"""Names that a version no longer has, advises against, or never had."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.knowledge import Form, Knowledge, NkiVersion, Ruling
from portcheck.knowledge.fitting import nearest_names
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.generation.calls import Matter
from portcheck.rules.generation.examples import CUDA, HEAD, LEGACY, PORT, SCALE, TAIL
from portcheck.rules.generation.misuse import Blame, Misuse, misuses
from portcheck.rules.generation.wording import listed, of_keyword, places, short, what_happens

_DYNAMIC = HEAD + "    nisa.tensor_copy_dynamic_src(dst=tile, src=tile)\n" + SCALE + TAIL
_MASKED = HEAD + SCALE.replace("operand0=2.0)", "operand0=2.0, mask=rows < 128)") + TAIL
_ADDED = HEAD + "    twofold = tile + tile\n    nisa.tensor_copy(dst=tile, src=twofold)\n" + TAIL
_LOOP = HEAD + "    for i in nl.affine_range(1):\n    " + SCALE + TAIL
_PYTHON_LOOP = HEAD + "    for i in range(1):\n    " + SCALE + TAIL
_MISSPELT = PORT.replace("nisa.tensor_scalar(", "nisa.tensor_scaler(")
_OF_LATER = HEAD + "    nl.fori_loop(0, 1, lambda i: nisa.tensor_copy(dst=tile, src=tile))\n" + SCALE + TAIL


@rule(
    "PC802",
    "api-removed",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The port uses a call, a name, an argument or a form that earlier versions of NKI had and the target version has not.

**What the version does.** A name that is gone is an error when the kernel is traced or compiled. So is a keyword that
is gone, except in the release of SDK 2.27, which ignores it without a word: a `mask=` that is ignored changes values.
The package `neuronxcc.nki` warns inside of kernels up to 0.3 and is a compile error from 0.4.

**How to fix.** The finding names the replacement where the vendor does.

**How we know.** The tables hold every public name of every version with its parameters, from the vendor's stubs and
release notes. A name of the first generation that the current package never had counts as removed with 0.2.
""",
    examples=(
        Example(title="nothing that is gone", cuda=CUDA, nki=PORT, hit=False),
        Example(title="the first generation, read as such", cuda=CUDA, nki=LEGACY, hit=False),
        Example(title="still there in 0.3", cuda=CUDA, nki=_DYNAMIC, hit=False, nki_version="0.3"),
        Example(title="removed in 0.4", cuda=CUDA, nki=_DYNAMIC, hit=True, nki_version="0.6"),
        Example(title="a mask, which only the first generation has", cuda=CUDA, nki=_MASKED, hit=True),
        Example(title="an operator of Python on tiles", cuda=CUDA, nki=_ADDED, hit=True),
        Example(title="the first generation, read as 0.6", cuda=CUDA, nki=LEGACY, hit=True, nki_version="0.6"),
    ),
)
def api_removed(pair: Pair) -> Iterator[Draft]:
    """The target version no longer has a call, name, argument or form that the port uses."""
    version = pair.nki.program.version
    for item in misuses(pair.nki.program, pair.knowledge, Blame.REMOVED):
        what, effect = _removed(item, version, pair.knowledge)
        replacement = replacement_of(item, version, pair.knowledge)
        yield Draft(
            message=f"{what}{places(item.uses)}: {effect}.",
            remedy=f"Use {replacement}." if replacement else "Write what it does with calls of the target version.",
            nki=item.uses[0].span,
            because=(f"also used: {listed([short(name) for name in item.others])}",) if item.others[1:] else (),
        )


def _removed(item: Misuse, version: str, knowledge: Knowledge) -> tuple[str, str]:
    """What is gone, and what the version does about it."""
    at = NkiVersion.parse(version)
    refused = what_happens(version, None)
    match item.matter:
        case Matter.PACKAGE:
            ruling = knowledge.forms.ruling(Form.LEGACY_NAMESPACE, at)
            return f"The port is written in the package `{item.name}`", what_happens(version, ruling)
        case Matter.KEYWORD:
            gone = f"The argument `{item.argument}` of `{short(item.name)}` is gone since NKI {item.bound}"
            return gone, of_keyword(knowledge, at)
        case Matter.FORM:
            return f"{_upper(spelled(item.name, knowledge))} is gone since NKI {item.bound}", refused
        case Matter.NOTICE if item.argument:
            return f"`{short(item.name)}` takes no `{item.argument}` since NKI {item.bound}", refused
        case _:
            return f"`{short(item.name)}` is gone since NKI {item.bound}", refused


def replacement_of(item: Misuse, version: str, knowledge: Knowledge) -> str:
    """What the vendor names in place of something, "" for nothing."""
    at = NkiVersion.parse(version)
    if item.matter is Matter.NOTICE:
        return _called(knowledge.forms.notice(item.name, item.argument, at))
    if item.matter is Matter.FORM:
        return _called(knowledge.forms.ruling(Form(item.name), at))
    if item.matter is Matter.PACKAGE:
        return _called(knowledge.forms.ruling(Form.LEGACY_NAMESPACE, at))
    if item.matter is Matter.KEYWORD:
        return knowledge.forms.keywords.get(item.argument, "")
    names = (item.name, *knowledge.releases.twins(item.name))
    forms = [form for name in names if name in knowledge.apis for form in reversed(knowledge.apis[name].versions)]
    return next((_quoted(form.replacement) for form in forms if form.replacement), "")


def _called(ruling: Ruling | None) -> str:
    return "" if ruling is None else _quoted(ruling.replacement)


def _quoted(replacement: str) -> str:
    """A name in backticks, words as they are."""
    return f"`{replacement}`" if "." in replacement or replacement == "range" else replacement


def spelled(form: str, knowledge: Knowledge) -> str:
    """How a form is called in a sentence."""
    return knowledge.forms.forms[Form(form)].spelled


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


@rule(
    "PC803",
    "api-deprecated",
    Severity.NOTE,
    Certainty.CERTAIN,
    documentation="""
The target version still has what the port uses and advises against it, or takes an argument and ignores it. A later
version will not have it.

**What the version does.** It works as before, with a warning or without; an argument that is ignored has no effect.

**How to fix.** Use the replacement that the finding names.

**How we know.** The vendor's stubs and release notes say so; the tables hold since when.
""",
    examples=(
        Example(title="nothing deprecated", cuda=CUDA, nki=_PYTHON_LOOP, hit=False),
        Example(title="not yet deprecated", cuda=CUDA, nki=_LOOP, hit=False, nki_version="0.2"),
        Example(title="affine_range is range", cuda=CUDA, nki=_LOOP, hit=True, nki_version="0.6"),
        Example(
            title="mode= is ignored", cuda=CUDA, nki=PORT.replace("@nki.jit", '@nki.jit(mode="trace")'), hit=True,
            nki_version="0.3",
        ),
    ),
)  # fmt: skip
def api_deprecated(pair: Pair) -> Iterator[Draft]:
    """The target version advises against something that the port uses."""
    version = pair.nki.program.version
    for item in misuses(pair.nki.program, pair.knowledge, Blame.DEPRECATED):
        replacement = replacement_of(item, version, pair.knowledge)
        what = f"`{short(item.name)}`" if item.matter is not Matter.FORM else spelled(item.name, pair.knowledge)
        if item.argument:
            what = f"The argument `{item.argument}` of {what}"
        ruling = pair.knowledge.forms.notice(item.name, item.argument, NkiVersion.parse(version))
        effect = what_happens(version, ruling) if ruling is not None else f"NKI {version} still has it"
        yield Draft(
            message=f"{_upper(what)}{places(item.uses)} is deprecated since NKI {item.bound}; {effect}.",
            remedy=f"Use {replacement}." if replacement else "Leave it out.",
            nki=item.uses[0].span,
        )


@rule(
    "PC804",
    "api-unknown",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The target version has no function, method, constant or member of an enumeration with this name: no version has one, or
only later versions do.

**What the version does.** It is an error when the kernel is traced or compiled.

**How to fix.** The finding offers the names of the target version that are spelled most alike. They may do something
else: look them up.

**How we know.** The tables hold every public name of `nki.isa`, `nki.language` and `nki.collectives`, and of their
counterparts of the first generation, in every version. Names of other modules, and names that begin with an
underscore, are not judged.
""",
    examples=(
        Example(title="known names", cuda=CUDA, nki=PORT, hit=False),
        Example(title="a call of 0.6, read as 0.6", cuda=CUDA, nki=_OF_LATER, hit=False),
        Example(title="misspelt", cuda=CUDA, nki=_MISSPELT, hit=True),
        Example(title="a call of 0.6, read as 0.3", cuda=CUDA, nki=_OF_LATER, hit=True, nki_version="0.3"),
    ),
)
def api_unknown(pair: Pair) -> Iterator[Draft]:
    """The target version has no such name, and no earlier one had."""
    version = pair.nki.program.version
    for item in misuses(pair.nki.program, pair.knowledge, Blame.UNKNOWN):
        near = nearest_names(pair.knowledge, item.name, NkiVersion.parse(version))
        came = f"it came with NKI {item.bound}" if item.bound else "no version of NKI has it"
        if item.matter is Matter.PACKAGE:
            came = "its kernels are written in another package"
        yield Draft(
            message=f"NKI {version} has no `{item.name}`{places(item.uses)}; {came}.",
            remedy=f"Is {listed(near)} meant?" if near else "Write it with calls that the target version has.",
            nki=item.uses[0].span,
        )
