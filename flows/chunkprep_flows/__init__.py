"""chunkprep flows."""
