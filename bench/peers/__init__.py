"""One folder a neighbour: what it needs, hashed, and the program that does the workloads with it."""
