"""Makes docs/reference/ from the code: `python -m docs.generate`, or `make reference`."""
