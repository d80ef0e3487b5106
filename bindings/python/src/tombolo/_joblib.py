# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as a backend of joblib, under the name "tombolo"; imported by `RankExecutor.joblib`.

joblib submits batches of calls to the executor, and takes their results in its callbacks. It is an
optional package, without types: this file is imported only where it is there.
"""

from __future__ import annotations

import concurrent.futures
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._futures import RankExecutor

NAME = "tombolo"
joblib: Any = importlib.import_module("joblib")
Base: Any = importlib.import_module("joblib.parallel").ParallelBackendBase


class RanksBackend(Base):  # type: ignore[misc]
    """What joblib asks of a backend; `executor` runs the tasks."""

    supports_retrieve_callback = True
    default_n_jobs = -1

    def __init__(self, executor: RankExecutor, **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType]
        self.executor = executor

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """How many tasks run at once: the ranks of the executor; fewer if n_jobs says so."""
        if n_jobs == 0:
            raise ValueError("n_jobs is 0; give the number of ranks to use, or -1 for all")
        workers = self.executor.workers
        return workers if n_jobs is None or n_jobs < 0 else min(n_jobs, workers)

    def submit(
        self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None
    ) -> concurrent.futures.Future[Any]:
        """Starts a batch; joblib's callback gets its future."""
        task = self.executor.submit(func)
        if callback is not None:
            task.add_done_callback(callback)
        return task

    apply_async = submit  # the name that joblib before 1.4 calls

    def retrieve_result_callback(self, out: concurrent.futures.Future[Any]) -> Any:
        """The result of a batch that is complete, or its exception."""
        return out.result()


def context(executor: RankExecutor) -> Any:
    """A context in which joblib's Parallel runs on the ranks of an executor."""
    joblib.register_parallel_backend(NAME, RanksBackend)
    return joblib.parallel_config(backend=NAME, executor=executor, n_jobs=-1)
