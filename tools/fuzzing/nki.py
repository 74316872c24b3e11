"""NKI texts of at most 1 KB of both generations: pieces of kernels, calls made from the tables, ports of the corpus."""

import random
import re
from pathlib import Path
from zlib import crc32

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.knowledge import Api, load

from .checks import problem_of_program
from .executing import problem_of_run
from .mutations import Mutations, Pieces
from .nki_pieces import CURRENT, CURRENT_STATEMENTS, DEFINITIONS, HEADS, LEGACY, LEGACY_STATEMENTS, PRELUDES, VALUES
from .python_trees import TreeMutations

SUFFIX = ".py"
LARGEST = 1024
MOST_MUTATIONS = 5
VERSIONS = (None, None, None, "0.1", "0.2", "0.3", "0.4", "0.5", "0.6")
SHAPES = ((), (), (("x", "128,512"),), (("x", "130,7"), ("y", "3"), ("n", "0")))
ODD_WORDS = (
    "\0", "\\\n", "\r\n", "\t", "\u00e9", "\'\'\'", "'", "#", "\ufeff", "*", "**", ":=", "lambda", "yield", "f'{", "@",
)  # fmt: skip

TOKEN = re.compile(r"\n[ \t]*|[ \t]+|\w+|[^\w\s]|\s")


def problem_of(text: str) -> str:
    """What is wrong with what became of `text`; "" if nothing is. Raises whatever the frontend or a run raises."""
    chosen = crc32(text.encode("utf-8", "replace"))
    options = NkiOptions(version=VERSIONS[chosen % len(VERSIONS)], shapes=SHAPES[chosen // 16 % len(SHAPES)])
    source = SourceFile("port.py", text)
    module = read_nki(source, options)
    for problem in module.problems:
        if not 1 <= problem.span.start.line <= len(source.lines) + 1:
            return "a problem that lies outside the file"
    program = module.lower([kernel.name for kernel in module.kernels])
    return problem_of_program(program) or problem_of_run(program, chosen)


class Inputs:
    """Texts from a seed."""

    def __init__(self, seed: int, corpus: Path) -> None:
        self._random = random.Random(seed)
        self._seeds = [path.read_text(encoding="utf-8") for path in sorted(corpus.glob("*/*/port.py"))]
        self._apis = sorted(load().apis.values(), key=lambda api: api.name)
        self._definitions = DEFINITIONS.strip("\n").split("\n\n")
        self._statements = {
            imports: statements.strip("\n").split("\n\n")
            for imports, statements in ((LEGACY, LEGACY_STATEMENTS), (CURRENT, CURRENT_STATEMENTS))
        }
        texts = (*VALUES, CURRENT_STATEMENTS, LEGACY_STATEMENTS)
        names = sorted({name for text in texts for name in re.findall(r"[a-zA-Z]\w*", text)})
        words = (*names, *VALUES, *ODD_WORDS)
        lines = self._definitions + self._statements[LEGACY] + self._statements[CURRENT]
        self._tokens = Mutations(self._random, Pieces(TOKEN.findall, words, lines, self._made, self._put_statement))
        self._trees = TreeMutations(self._random, names, self._piece)

    def next(self) -> str:
        """The next input."""
        choose = self._random
        text = choose.choice(self._seeds)[:LARGEST] if choose.random() < 0.15 else self._made()
        if choose.random() < 0.7:
            text = self._trees.mutated(text, choose.randrange(MOST_MUTATIONS + 1))
        if choose.random() < 0.2:
            tokens: list[str] = TOKEN.findall(text)
            for _ in range(choose.randrange(MOST_MUTATIONS)):
                self._tokens.mutate(tokens)
            text = "".join(tokens)
        return text[:LARGEST]

    def _made(self) -> str:
        choose = self._random
        imports = choose.choice((CURRENT, CURRENT, LEGACY))
        definitions = choose.sample(self._definitions, choose.randrange(4))
        head = choose.choice(HEADS)
        indent = " " * (len(head.splitlines()[-1]) - len(head.splitlines()[-1].lstrip()) + 4)
        body = [self._statement(imports) for _ in range(choose.randrange(1, 10))]
        if choose.random() < 0.7:
            body[:0] = choose.sample(PRELUDES[imports], choose.randrange(1, len(PRELUDES[imports]) + 1))
        lines = [f"{indent}{line}" for statement in body for line in statement.splitlines()]
        return "\n".join([imports, *definitions, head, *lines]) + "\n"

    def _statement(self, imports: str) -> str:
        if self._random.random() < 0.3:
            return self._call(imports)
        return self._random.choice(self._statements[imports])

    def _piece(self) -> str:
        return self._statement(self._random.choice((CURRENT, LEGACY))).replace("return out", "pass")

    def _call(self, imports: str) -> str:
        """A call from the tables with arguments of any kind."""
        choose = self._random
        api: Api = choose.choice(self._apis)
        form = choose.choice(api.versions)
        by_keyword = choose.random() < 0.7
        given: list[str] = []
        for parameter in form.parameters:
            if parameter.name.startswith("*") or (parameter.default is not None and choose.random() < 0.7):
                by_keyword = True
                continue
            value = choose.choice(VALUES)
            given.append(f"{parameter.name}={value}" if by_keyword else value)
        for word in ("language", "isa", "collectives"):
            short = {"language": "nl", "isa": "nisa", "collectives": "nccl"}[word]
            _, found, rest = api.name.partition(f"nki.{word}.")
            if found:
                owner = "a" if rest.startswith("NkiTensor.") else short
                call = f"{owner}.{rest.removeprefix('NkiTensor.')}({', '.join(given)})"
                return call if choose.random() < 0.6 else f"{choose.choice('abstz')} = {call}"
        return f"nki.{api.name.partition('nki.')[2]}({', '.join(given)})"

    def _put_statement(self, tokens: list[str]) -> None:
        places = [index for index, token in enumerate(tokens) if token.startswith("\n ")] or [len(tokens) - 1]
        place = self._random.choice(places)
        indent = tokens[place] if tokens else ""
        lines = self._piece().splitlines()
        tokens[place:place] = [token for line in lines for token in TOKEN.findall(f"{indent}{line}")]
