"""Reading, splitting and pricing documents: the pure core, and the readers around it."""
