"""A LlamaIndex node postprocessor that packs what a retriever found.

For example:

    packing = ChunkprepPostprocessor(packer=Packer.open(url), options=PackOptions(budget=4000))
    nodes = packing.postprocess_nodes(retrieved, query_str=question)
    context = "".join(node.get_content() for node in nodes)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from pydantic import SkipValidation

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "chunkprep_packer.llamaindex needs llama-index-core: run "
        "`pip install 'chunkprep[llamaindex]'`",
        name=error.name,
    ) from error

from chunkprep_packer.result import PackResult
from chunkprep_packer.retrieved import (
    Item,
    Options,
    Packs,
    Shown,
    Without,
    options_for,
    shown,
    to_request,
)

logger = logging.getLogger(__name__)


class ChunkprepPostprocessor(BaseNodePostprocessor):
    """Packs retrieved nodes into a slot; gives back the packed ones, in final order.

    `packer` is a `Packer` or a `Client`, `options` how to pack, or a function from the question to
    that. A node's chunk id stands in its metadata as `chunk_id_key`, else it is the node's id.
    Where no node has a score, their order ranks them. Embeddings of nodes and question serve
    `mmr`. `without_id` says what is done with a node that has no chunk id. `on_result` is called
    with every PackResult: its exact `text`, `used_tokens` and decisions.
    """

    packer: SkipValidation[Packs]
    options: SkipValidation[Options]
    chunk_id_key: str = "chunk_id"
    without_id: Without = "raise"
    on_result: Callable[[PackResult], None] | None = None

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex knows it."""
        return "ChunkprepPostprocessor"

    def packed(
        self, nodes: Sequence[NodeWithScore], query: QueryBundle | None = None
    ) -> tuple[list[NodeWithScore], PackResult]:
        """The packed nodes, and the whole result: its exact text, tokens and decisions."""
        request, places = to_request(
            [Item(n.node.node_id, n.node.metadata, n.score, n.node.embedding) for n in nodes],
            options_for(self.options, "" if query is None else query.query_str),
            name=self.chunk_id_key,
            without=self.without_id,
            query_vector=None if query is None else query.embedding,
        )
        result = self.packer.pack(request)
        for warning in result.warnings:
            logger.warning(warning)
        if self.on_result is not None:
            self.on_result(result)
        return [_node(one, nodes, result) for one in shown(result, places)], result

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        """The packed nodes: their contents, joined by nothing, are the context."""
        return self.packed(nodes, query_bundle)[0]


def _node(one: Shown, nodes: Sequence[NodeWithScore], result: PackResult) -> NodeWithScore:
    """A node that the model sees as exactly the block: the header is in it, so no metadata is."""
    source = None if one.at is None else nodes[one.at].node
    metadata = {
        **({} if source is None else source.metadata),
        "chunkprep": one.facts(result),
    }
    node = TextNode(
        text=one.text,
        metadata=metadata,
        excluded_llm_metadata_keys=list(metadata),
        excluded_embed_metadata_keys=list(metadata),
        relationships={} if source is None else source.relationships,
    )
    if one.block.chunk_id is not None:
        node.node_id = one.block.chunk_id
    return NodeWithScore(node=node, score=one.block.score)
