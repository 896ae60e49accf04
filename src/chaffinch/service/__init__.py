"""The web service: pages, an API and a MOSS server, for one machine or many. Needs the extra `server`."""
