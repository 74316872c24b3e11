"""Python that the compiler of a version does not take."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.knowledge import Form, NkiVersion
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.generation.examples import CUDA, PORT
from portcheck.rules.generation.misuse import Blame, misuses
from portcheck.rules.generation.names import replacement_of
from portcheck.rules.generation.wording import places, what_happens

_FACTOR = PORT.replace("def twice(x):", "def twice(x, factor=None):").replace(
    "    assert rows", "    if factor {} None:\n        factor = 2.0\n    assert rows"
)
_EQUAL = _FACTOR.replace("{}", "==")
_IS = _FACTOR.replace("{} None", "is False")
_IS_NONE = _FACTOR.replace("{}", "is")
_SEPARATOR = PORT.replace("def twice(x):", "def twice(x, *, factor=2.0):")
_HELPER = PORT.replace("@nki.jit", "@nki.jit\ndef ready(t):\n    assert t.shape[0] == 128\n\n@nki.jit", 1).replace(
    "    return y", "    ready(tile)\n    return y"
)


@rule(
    "PC808",
    "language-subset-violated",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
From 0.2 to 0.6 a kernel and the functions that it calls are read by a compiler that takes a part of Python. The port
uses something else: `is`, the separator `*` in the signature of a kernel, lists as arguments of a kernel, dictionaries
with keys that are no strings, generators; with 0.2, a slice of a slice and decorators of kernels on functions that a
kernel calls.

**What the version does.** The kernel does not compile. The simulator runs it as Python and does not notice.

**How to fix.** The finding names the form that the version takes.

**How we know.** The migration guide and the release notes name these forms. What they do not name is not judged. The
text counts whether or not it is reached. The vendor's own kernels for 0.3 compare with `is None`, against the release
notes: what is so contradicted is not judged.
""",
    examples=(
        Example(title="compared with ==", cuda=CUDA, nki=_EQUAL, hit=False),
        Example(title="is None, which the vendor's own kernels have", cuda=CUDA, nki=_IS_NONE, hit=False),
        Example(title="is, which 0.2 takes", cuda=CUDA, nki=_IS, hit=False, nki_version="0.2"),
        Example(title="is", cuda=CUDA, nki=_IS, hit=True, nki_version="0.6"),
        Example(title="parameters by keyword only", cuda=CUDA, nki=_SEPARATOR, hit=True, nki_version="0.3"),
        Example(title="a decorated helper", cuda=CUDA, nki=_HELPER, hit=True, nki_version="0.2"),
    ),
)
def language_subset_violated(pair: Pair) -> Iterator[Draft]:
    """A kernel is written in Python that the compiler of the target version does not take."""
    version = NkiVersion.parse(pair.nki.program.version)
    for item in misuses(pair.nki.program, pair.knowledge, Blame.LANGUAGE):
        facts = pair.knowledge.forms.forms[Form(item.name)]
        if facts.doubt:
            continue
        replacement = replacement_of(item, str(version), pair.knowledge)
        effect = what_happens(str(version), pair.knowledge.forms.ruling(Form(item.name), version))
        yield Draft(
            message=f"The port uses {facts.spelled}{places(item.uses)}: {effect} (since {item.bound}).",
            remedy=f"Write {replacement} instead.",
            nki=item.uses[0].span,
        )
