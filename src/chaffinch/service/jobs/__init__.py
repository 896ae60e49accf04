"""The work of the service: a durable queue, and workers that take jobs from it."""
