"""From the text of an expression to its syntax tree.

Lexer, parser, macros.
Nothing here evaluates.
"""
