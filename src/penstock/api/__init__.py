"""The HTTP API: one table of calls makes routes, permissions and the OpenAPI document.

Not here: decisions and rows. A handler calls `engine`, `access` or `sources` and words the answer.
"""
