"""The floor: the rows of durable 3-step runs, written in batches with no engine around them."""
