"""The inspector: pages on a document, a pack, a corpus and its health, for people who look first.

Each page is facts gathered from the store (its JSON) and a template that shows them.
"""

from chunkprep_packer.pages.router import Caller, Source, Viewer, pages_router

__all__ = ["Caller", "Source", "Viewer", "pages_router"]
