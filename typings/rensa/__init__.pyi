# rensa is compiled and ships no types: what chunkprep uses of it.
from collections.abc import Sequence

class RMinHash:
    @staticmethod
    def digests_from_token_sets(
        token_sets: Sequence[Sequence[str]], num_perm: int, seed: int
    ) -> list[list[int]]: ...
