"""One thread for linear algebra while we use threads of our own: together they would fight for the cores."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits


def one_blas_thread() -> AbstractContextManager[object]:
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
