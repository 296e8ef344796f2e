"""The API described: OpenAPI, the reference page and the TypeScript types, from the table of calls.

What is not in the table does not exist.
Nothing here handles a request.
"""
