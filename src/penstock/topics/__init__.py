"""Brokers: one narrow interface to NATS JetStream, AMQP and Kafka, for messages in and out.

Not here: which message starts a run (`sources.topic`).
"""
