"""The words that every room speaks: plain frozen data, nothing that does work.

Each family stands on those before it:

- `stages`: the stages of a pipeline, by all their names;
- `jobs`: what a child is asked: `Launch` and `Job`;
- `answers`: what a backend answers, exactly as the driver said it: `Answer` and its parts;
- `requests`: what a user asks: `Request`;
- `results`: what a report holds (see ``schemas/report-1.json``): `Run`, `Target`, `Pipeline`, `Result`;
- `events`: what carries them, and the `Report` that they add up to;
- `rules`: what a budget says: `Rule` and `Baseline`.

A name is taken from here, and its family is imported then (PEP 562): to define all of these classes takes
milliseconds, and a child needs the first half of them.

Enumerations are plain strings, since a reader must accept words that a later version adds.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in shaderstat/__init__.py
if TYPE_CHECKING:
    from shaderstat.model.answers import *  # noqa: F403
    from shaderstat.model.events import *  # noqa: F403
    from shaderstat.model.jobs import *  # noqa: F403
    from shaderstat.model.requests import *  # noqa: F403
    from shaderstat.model.results import *  # noqa: F403
    from shaderstat.model.rules import *  # noqa: F403
    from shaderstat.model.stages import *  # noqa: F403
else:  # type checkers are to know the names, not to take any for one

    def __getattr__(name: str) -> object:
        from importlib import import_module

        for family in () if name.startswith("_") else FAMILIES:
            words = vars(import_module(f"shaderstat.model.{family}"))
            if name in words:
                globals()[name] = words[name]
                return words[name]
        raise AttributeError(f"module 'shaderstat.model' has no attribute {name!r}")


FAMILIES = ("stages", "jobs", "answers", "requests", "results", "events", "rules")
