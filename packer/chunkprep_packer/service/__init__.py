"""The HTTP service (extra `serve`): its door is `chunkprep_packer.service.app.create_app`.

Importing this package loads no web framework; importing `app`, `routes` or `metrics` does.
"""
