"""Dask's workers as Prefect's task runner: started for the run, or a cluster that runs already."""

from __future__ import annotations

from typing import Any

from prefect.task_runners import TaskRunner

from chunkprep_flows.ingest_settings import IngestSettings, refuse_unshared_store


def dask_runner(settings: IngestSettings) -> TaskRunner[Any]:
    """A runner on the scheduler at `dask_address`, else on `workers` processes started for the run.

    A worker that dies loses nothing: Dask gives its batch to another one, and what it had written
    of it already is found unchanged. Raises RequestError as `refuse_unshared_store` does.
    """
    refuse_unshared_store(settings)
    from prefect_dask.task_runners import DaskTaskRunner

    if settings.dask_address is not None:
        return DaskTaskRunner(address=settings.dask_address)
    cluster = {"n_workers": settings.workers, "threads_per_worker": 1, "dashboard_address": None}
    return DaskTaskRunner(cluster_kwargs=cluster)
