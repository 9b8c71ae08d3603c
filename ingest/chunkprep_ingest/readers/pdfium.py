"""One lock for pdfium, which must not be called from two threads at once."""

from threading import RLock

PDFIUM = RLock()
