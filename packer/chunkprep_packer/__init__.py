"""chunkprep packer."""
