"""chunkprep store."""
