"""The inspector: pages on a document, a pack, a corpus and its health, for people who look first.

Each page is facts gathered from the store (its JSON) and a template that shows them.
`router` serves them (extra `serve`); `report` writes them into one file (extra `report`).
"""
