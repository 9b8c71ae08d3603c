"""Shared pieces of the test suite: oracles that know nothing of the code they check."""
