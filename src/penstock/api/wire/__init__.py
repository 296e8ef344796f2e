"""The types of requests and answers, from which the OpenAPI document is made.

Not here: behaviour, and types that workers send (`workers.wire`).
"""
