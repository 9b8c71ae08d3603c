"""What a block that starts at a piece leaves for text: the limit, less its header and lead."""

from __future__ import annotations

from chunkprep_ingest.labels import Headers
from chunkprep_ingest.pieces import Pieces
from chunkprep_ingest.price import Prices

_FENCE = 4  # tokens that closing a code fence may cost


class Room:
    """The room at each piece under `limit` tokens for header, lead and text."""

    def __init__(self, pieces: Pieces, headers: Headers, prices: Prices, limit: int) -> None:
        self.pieces = pieces
        self.headers = headers
        self.prices = prices
        self.limit = limit
        self._by_header: dict[tuple[int, int | None], int] = {}
        self._by_lead: dict[str, int] = {}

    def __call__(self, piece: int) -> int:
        """Tokens left for text in a block that starts at `piece`; at least 1."""
        pieces = self.pieces
        element = pieces.element[piece]
        section = pieces.section_of[element]
        page = pieces.elements[element].page if self.headers.pages else None
        room = self._by_header.get((section, page))
        if room is None:
            header = self.headers.of(pieces.sections[section].path, page)
            room = self._by_header[section, page] = max(1, self.limit - header.tokens)
        lead = pieces.lead.get(piece)
        return max(1, room - self._lead_cost(lead)) if lead else room

    def of_all(self, pieces: list[int]) -> list[int]:
        """The room at each of these pieces, ascending; asked once where one section holds all."""
        row = self.pieces
        first, last = (row.section_of[row.element[k]] for k in (pieces[0], pieces[-1]))
        if first != last or row.lead or self.headers.pages:
            return [self(piece) for piece in pieces]
        return [self(pieces[0])] * len(pieces)

    def _lead_cost(self, lead: str) -> int:
        """A lead that is repeated, and a closing fence as long as it may need one."""
        cost = self._by_lead.get(lead)
        if cost is None:
            tokens = self.prices.lead(lead)
            fence = 0 if lead.lstrip()[:1] == "|" else _FENCE
            cost = tokens + fence if tokens <= self.headers.limit else 0
            self._by_lead[lead] = cost
        return cost
