"""`penstock demo`: the example workflows, what they need beside the server, and the tour."""
