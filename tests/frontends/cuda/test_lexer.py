"""Text cut into tokens: nothing is lost, and what a token is does not depend on what surrounds it."""

from __future__ import annotations

import time

import pytest

from portcheck.frontends.cuda.text.lexer import TokenKind, next_use, significant, token_at, tokens_of

CUTS = {
    "names and numbers": ("a1+0x1p-3f", ["a1", "+", "0x1p-3f"]),
    "hexadecimal E is a digit": ("0xE+1", ["0xE", "+", "1"]),
    "digit separators": ("1'000'000u", ["1'000'000u"]),
    "exponents": ("1.e-3f-.5", ["1.e-3f", "-", ".5"]),
    "long operators": ("a<<=b>>c...", ["a", "<<=", "b", ">>", "c", "..."]),
    "comments": ("a/*b\n*/c//d\n-e", ["a", "c", "-", "e"]),
    "a continued line comment": ("a // b \\\n c\nd", ["a", "d"]),
    "a continued line comment with DOS line ends": ("a // b \\\r\n c\r\nd", ["a", "d"]),
    "strings": (r'"a\"b" + ' + r"'\''", [r'"a\"b"', "+", r"'\''"]),
    "a raw string": ('R"x(a)" b)x" c', ['R"x(a)" b)x"', "c"]),
    "what is no raw string": ('R"a b', ["R", '"a b']),
    "a string that does not end": ('"ab\nc', ['"ab', "c"]),
    "a comment that does not end": ("a /* b", ["a"]),
}


@pytest.mark.parametrize(("text", "expected"), CUTS.values(), ids=CUTS)
def test_tokens_are_those_of_cpp(text: str, expected: list[str]) -> None:
    assert [token.text for token in significant(text)] == expected


@pytest.mark.parametrize("text", [text for text, _ in CUTS.values()], ids=CUTS)
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(token.text for token in tokens_of(text)) == text


ALL = " ".join(["//*", "a.5e+b", "'\"'", "1'a'b", "/a*b", "x/y", *(text for text, _ in CUTS.values())])


@pytest.mark.parametrize("start", range(0, len(ALL), 7))
def test_names_and_tokens_are_found_from_where_a_token_begins(start: int) -> None:
    text = ALL[start:]
    names = [token for token in tokens_of(text) if token.kind is TokenKind.NAME and token.text in "abcdex"]
    found, position = [], 0
    while (use := next_use(text, position, "abcdex")) is not None:
        found.append(use)
        position = use.end
    assert found == names
    assert [token_at(text, token.start) for token in significant(text)] == significant(text)


@pytest.mark.parametrize("piece", ['R"(', "/*", '"\\', "'", "1'", "//\\\n", 'R"((', "..."])
def test_time_grows_with_the_length_alone(piece: str) -> None:
    start = time.process_time()
    tokens_of(piece * 100_000)
    assert time.process_time() - start < 10
