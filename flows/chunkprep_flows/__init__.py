"""Ingesting, auditing and keeping in order: the Prefect flows, and the command line."""
