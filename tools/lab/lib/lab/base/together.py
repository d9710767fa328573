# SPDX-License-Identifier: GPL-2.0-only
"""Calls that run at the same time, each in a thread of its own; all of them end with us."""

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait


def run(calls: Iterable[Callable[[], object]], jobs: int, end: Callable[[], None]) -> None:
    """Run the calls, @jobs at a time. If one fails, or a signal ends this one, end() stops the rest."""
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        try:
            left = {pool.submit(call) for call in calls}
            while left:
                # Only this thread acts on a signal, but the kernel may give it to another one,
                # and then nothing wakes this one but its own clock.
                ended, left = wait(left, timeout=1, return_when=FIRST_COMPLETED)
                for one in ended:
                    one.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end()
            raise
