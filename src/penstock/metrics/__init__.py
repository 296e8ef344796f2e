"""What is seen from outside: metrics, logs and traces. They watch; the engine knows nothing of them."""
