"""Limits how often somebody may ask: a bucket of requests for each account or address, refilled steadily.

Every process counts for itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from chaffinch.service.refusals import TooManyRequests

_MAX_BUCKETS = 50_000


@dataclass(slots=True)
class _Bucket:
    left: float
    time: float
    size: float
    per_second: float

    def refill(self, now: float) -> None:
        self.left = min(self.size, self.left + (now - self.time) * self.per_second)
        self.time = now


class Limits:
    """How many requests are left to everybody who asked lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, _Bucket] = {}

    def spend(self, key: str, size: int, per_minute: float) -> None:
        """Count a request. Raise if `size` were sent at once and not enough time has passed since."""
        with self._lock:
            now = self._clock()
            if len(self._buckets) >= _MAX_BUCKETS:
                self._forget_full(now)
            bucket = self._buckets.setdefault(key, _Bucket(size, now, size, per_minute / 60))
            bucket.size, bucket.per_second = size, per_minute / 60  # settings may have changed
            bucket.refill(now)
            if bucket.left < 1:
                seconds = math.ceil((1 - bucket.left) / bucket.per_second)
                raise TooManyRequests(f"too many requests; try again in {seconds} seconds", seconds)
            bucket.left -= 1

    def give_back(self, key: str) -> None:
        """Do not count a request after all."""
        with self._lock:
            if key in self._buckets:
                self._buckets[key].left += 1

    def _forget_full(self, now: float) -> None:
        for key, bucket in list(self._buckets.items()):
            bucket.refill(now)
            if bucket.left >= bucket.size:
                del self._buckets[key]
