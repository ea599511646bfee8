"""BLAS on one thread: small matrices are slower on two, which wait for each other."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext


@contextmanager
def one_thread(*, of_blas: bool = True) -> Iterator[None]:
    """Keep BLAS to one thread in a block or a decorated function; where threadpoolctl is not there it does as it likes.

    Parameters
    ----------
    of_blas : bool
        Whether to, for whoever decides it at run time.

    Example
    -------
    >>> with one_thread():
    ...     pass
    """
    with _limit() if of_blas else nullcontext():
        yield


def _limit() -> AbstractContextManager[object]:
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        return nullcontext()
    return threadpool_limits(1, user_api="blas")
