"""What every compiler is tried with."""

from __future__ import annotations

from pathlib import Path

from shaderstat import targets
from shaderstat.child.prepare import prepare
from shaderstat.child.trial import trial_spec
from shaderstat.model import Job, JobModule
from shaderstat.pipeline.synthesis import synthesise
from tests.pipeline.paper import PaperDevice


def test_the_pipeline_that_is_written_down_is_the_one_that_synthesis_makes() -> None:
    data = (Path(targets.__file__).parent / "trial.spv").read_bytes()
    job = Job("compute", (JobModule("trial", data, "compute", "main"),), validate=False)
    assert trial_spec(job) == synthesise(prepare(job).stages, PaperDevice())
