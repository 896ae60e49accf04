"""What the service answers over HTTP: pages and the API."""
