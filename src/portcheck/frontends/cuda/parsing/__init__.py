"""From text to nodes: the grammar, what it reads wrongly and how that is mended, headers, what is defined where."""
