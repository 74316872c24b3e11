"""How text becomes text that parses: tokens, macros, conditionals, the strings of Python files."""
