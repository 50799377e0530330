"""Remembered answers: the same question to the same compiler is asked once.

An answer is found from the hashes of the files and the options alone, before anything is parsed; so is the target's own
word, so that a run in which everything is known starts no child. What is kept is what the driver said, not what
shaderstat knows about it, and never what came of a crash or a time limit, nor how long anything took.
"""

from __future__ import annotations

from shaderstat.store.database import Contents, files
from shaderstat.store.places import default_limit, folder, size_words
from shaderstat.store.store import Store

__all__ = ["Contents", "Store", "default_limit", "files", "folder", "size_words"]
