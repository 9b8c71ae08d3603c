"""A LangChain document compressor that packs what a retriever found.

For example:

    compressor = ChunkprepCompressor(packer=Packer.open(url), options=PackOptions(budget=4000))
    documents = compressor.compress_documents(retrieved, question)
    context = "".join(document.page_content for document in documents)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ConfigDict, SkipValidation

try:
    from langchain_core.callbacks import Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "chunkprep_packer.langchain needs langchain-core: run `pip install 'chunkprep[langchain]'`",
        name=error.name,
    ) from error

from chunkprep_packer.result import PackResult
from chunkprep_packer.retrieved import (
    Item,
    Options,
    Packs,
    Without,
    options_for,
    shown,
    to_request,
)

logger = logging.getLogger(__name__)


class ChunkprepCompressor(BaseDocumentCompressor):
    """Packs retrieved documents into a slot; gives back the packed ones, in final order.

    `packer` is a `Packer` or a `Client`, `options` how to pack, or a function from the question to
    that. A document's chunk id stands in its metadata as `chunk_id_key`, else in its own `id`; its
    score stands as `score_key` (where none has one, their order ranks them), its vector, for
    `mmr`, as `vector_key`. `without_id` says what is done with a document that has no chunk id.
    `on_result` is called with every PackResult: its exact `text`, `used_tokens` and decisions.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    packer: SkipValidation[Packs]
    options: SkipValidation[Options]
    chunk_id_key: str = "chunk_id"
    score_key: str = "score"
    vector_key: str = "vector"
    without_id: Without = "raise"
    on_result: Callable[[PackResult], None] | None = None

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks = None,  # noqa: ARG002 - the framework's signature
    ) -> Sequence[Document]:
        """The packed documents: their page contents, joined by nothing, are the context.

        Each keeps its metadata; its `chunkprep` entry says what was decided. Raises RequestError
        for documents without chunk ids, and whatever `pack` raises.
        """
        return self.packed(documents, query)[0]

    def packed(
        self, documents: Sequence[Document], query: str = ""
    ) -> tuple[list[Document], PackResult]:
        """The packed documents, and the whole result: its exact text, tokens and decisions."""
        request, places = to_request(
            [self._item(document) for document in documents],
            options_for(self.options, query),
            name=self.chunk_id_key,
            without=self.without_id,
        )
        result = self.packer.pack(request)
        for warning in result.warnings:
            logger.warning(warning)
        if self.on_result is not None:
            self.on_result(result)
        return [
            Document(
                page_content=one.text,
                id=one.block.chunk_id,
                metadata={
                    **({} if one.at is None else documents[one.at].metadata),
                    "chunkprep": one.facts(result),
                },
            )
            for one in shown(result, places)
        ], result

    def _item(self, document: Document) -> Item:
        metadata: dict[Any, Any] = document.metadata
        score, vector = metadata.get(self.score_key), metadata.get(self.vector_key)
        return Item(document.id, metadata, score, vector)
