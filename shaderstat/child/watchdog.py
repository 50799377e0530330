"""The thread that ends a child over its time limit, or when its parent is gone.

A driver that hangs holds the main thread, not Python's lock: cffi and ctypes let it go around every call, so this
thread runs on. Killing the process from outside is only the second line of defence, because it would not reach a child
behind ``ssh`` or ``podman run``.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable

# The exit status of a child that ended itself; the parent goes by the frame, this is for people.
EXIT_DEADLINE = 124
# poll(2) takes an int of milliseconds.
LONGEST_WAIT_MS = 86_400_000


class Watchdog:
    """Ends the process when `arm`'s limit is over or when the other end of `in_fd` is closed.

    Args:
        in_fd: the pipe that jobs come from.
        last_word: called once before the process ends over its limit.
    """

    def __init__(self, in_fd: int, last_word: Callable[[], None]) -> None:
        self._last_word = last_word
        self._poll = select.poll()
        self._poll.register(in_fd, 0)  # POLLHUP is always reported; data is none of this thread's business
        self._wake_read, self._wake_write = os.pipe()
        self._poll.register(self._wake_read, select.POLLIN)
        self._deadline: float | None = None
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def arm(self, limit_s: float, *, leaving: bool = False) -> None:
        """Start the clock for one job, or for leaving."""
        deadline = time.monotonic() + limit_s
        with self._lock:
            if self._orphaned and not leaving:
                os._exit(0)
            # The thread sleeps until the nearest deadline that it knows of: wake it only for an earlier one. Jobs come
            # by the thousand, and a wake-up costs more than a small shader's parse.
            wake = self._sleeping_until is None or deadline < self._sleeping_until
            self._deadline = deadline
        if wake:
            os.write(self._wake_write, b"\0")

    def disarm(self) -> None:
        """Stop the clock."""
        with self._lock:
            self._deadline = None

    _sleeping_until: float | None = None
    _orphaned = False

    def _watch(self) -> None:
        while True:
            with self._lock:
                now = time.monotonic()
                over = self._deadline is not None and now >= self._deadline
                self._sleeping_until = self._deadline
                wait_ms = None if self._deadline is None else max(0.0, self._deadline - now) * 1000 + 1
            if over:
                self._last_word()
                os._exit(EXIT_DEADLINE)
            for descriptor, events in self._poll.poll(None if wait_ms is None else min(wait_ms, LONGEST_WAIT_MS)):
                if descriptor == self._wake_read:
                    os.read(self._wake_read, 4096)
                elif events & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
                    with self._lock:
                        if self._deadline is not None:
                            os._exit(0)  # in the middle of a job that nobody waits for any more
                        self._orphaned = True  # the main thread reads the end of its input by itself
                        self._poll.unregister(descriptor)
