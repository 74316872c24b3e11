"""Nodes of the parsed text: searches give what they find in the order of the text."""

from __future__ import annotations

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda.parsing.parse import parse


def test_a_search_finds_nodes_in_the_order_of_the_text_parents_first() -> None:
    text = "void f(int* a) { " + " ".join(f"g{number}(h{number}(a));" for number in range(40)) + " }"
    found = [node.text for node in parse(SourceFile("k.cu", text), text).root.found("call_expression")]
    assert found == [call for number in range(40) for call in (f"g{number}(h{number}(a))", f"h{number}(a)")]
