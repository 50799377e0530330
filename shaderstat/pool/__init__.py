"""Children: start them, hand out jobs one by one, hold their deadlines, survive their deaths."""

from __future__ import annotations

from shaderstat.pool.pool import Outcome, Pool

__all__ = ["Outcome", "Pool"]
