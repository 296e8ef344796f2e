"""The shapes of what is sent and answered, from which the description is made."""
