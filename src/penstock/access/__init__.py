"""Who may come in and what they may do: tokens, sessions, roles, secrets, and the record of what people did."""
