"""Brokers: one narrow interface to NATS JetStream, AMQP and Kafka, and what goes out through them."""
