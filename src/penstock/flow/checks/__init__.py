"""The checks: findings, each with a plain sentence and a hint. docs/reference/checks.md lists them."""
