"""Options that several commands share, as decorators, so that they are the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import click

from shaderstat.model import STAGE_BITS, STAGE_WORDS, STATUSES
from shaderstat.reporters.base import FORMATS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# Every command reads the same variables, SHADERSTAT_TIMEOUT and not SHADERSTAT_STATS_TIMEOUT.
CONTEXT = {
    "help_option_names": ["-h", "--help"],
    "auto_envvar_prefix": "SHADERSTAT",
    "max_content_width": 100,
}


class Variable(click.ParamType):  # type: ignore[type-arg]  # not generic before click 8.4
    """``KEY=VALUE``."""

    name = "K=V"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, rest = str(value).partition("=")
        if not key or not equals or "\0" in str(value):
            self.fail(f"{value!r} is not of the form NAME=VALUE", param, ctx)
        return key, rest


class Seconds(click.ParamType):  # type: ignore[type-arg]  # not generic before click 8.4
    """A positive, finite number of seconds."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (0 < number < math.inf):
            self.fail(f"{value!r} is not a positive number of seconds", param, ctx)
        return number


class Stage(click.ParamType):  # type: ignore[type-arg]  # not generic before click 8.4
    """A stage's word, or its file suffix."""

    name = "stage"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value).strip().lower().replace("-", "_")
        if word not in STAGE_WORDS:
            import difflib

            close = difflib.get_close_matches(word, [*STAGE_WORDS], n=1)
            mean = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(STAGE_BITS)}."
            self.fail(f"no stage is called {value!r}. {mean}", param, ctx)
        return STAGE_WORDS[word]


def _all(*decorators: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


paths = click.argument("paths", nargs=-1, metavar="PATH...")

targets = _all(
    click.option(
        "-t", "--target", "targets", multiple=True, metavar="TARGET", envvar="SHADERSTAT_TARGET",
        help="A compiler: host:0, radv:navi21, mock; 'radv:*' and all are several. Repeatable."
        " [default: the best there is]",
    ),
    click.option(
        "--backend", type=click.Choice(["auto", "vulkan", "mock"]), default="auto", show_default=True,
        help="Where to look for a compiler when no -t is given.",
    ),
    click.option("--driver", metavar="MANIFEST", help="Use this Vulkan driver manifest (.json) alone."),
    click.option(
        "--env", type=Variable(), multiple=True, metavar="NAME=VALUE",
        help="Set a variable for the driver. Repeatable.",
    ),
    click.option("--sandbox", is_flag=True, help="Run compilers in bubblewrap: no network, nothing to write to."),
    click.option("--scenario", "--mock-scenario", metavar="FILE", help="What the mock shall answer (YAML)."),
)  # fmt: skip

work = _all(
    click.option(
        "--timeout", type=Seconds(), default=60.0, show_default=True, metavar="SECONDS",
        help="The limit for one pipeline.",
    ),
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), metavar="N",
        help="Compilers at work side by side, for each target. [default: one for each core there is; for runs 1]",
    ),
    click.option("--fail-fast", is_flag=True, help="Stop at the first pipeline without an answer."),
    click.option("--no-cache", is_flag=True, help="Neither use nor keep remembered answers."),
    click.option("--refresh", is_flag=True, help="Ask compilers again, and remember that."),
    click.option("--no-progress", is_flag=True, help="No progress bar on the terminal."),
    click.option("--no-validate", is_flag=True, help="Give drivers even what SPIRV-Tools' validator refuses."),
    click.option(
        "--pipeline", "pipelines", multiple=True, metavar="GLOB", envvar="SHADERSTAT_PIPELINE",
        help="Only pipelines of such names. Repeatable, as are the next three.",
    ),
)  # fmt: skip

chosen = _all(
    click.option(
        "--entry", "entries", multiple=True, metavar="[STAGE:]NAME", envvar="SHADERSTAT_ENTRY",
        help="Only this entry point, and captured pipelines that have it; NAME may be a glob. Repeatable.",
    ),
    click.option(
        "--spec", "spec", multiple=True, metavar="[STAGE:]ID=VALUE[,...]", envvar="SHADERSTAT_SPEC",
        help="Set a specialization constant, by SpecId or name. Several values make a variant each; several options"
        " multiply.",
    ),
)  # fmt: skip

state = _all(
    click.option(
        "--subgroup-size", type=int, metavar="N", help="Compile for subgroups of this size, where the driver takes one."
    ),
    click.option("--samples", type=int, metavar="N", help="Samples a pixel. [default: 1]"),
    click.option(
        "--color-format", metavar="FORMAT",
        help="The colour attachments' VkFormat: R16G16B16A16_SFLOAT. [default: R8G8B8A8_UNORM]",
    ),
    click.option("--depth-format", metavar="FORMAT", help="A depth attachment's VkFormat: D32_SFLOAT. [default: none]"),
    click.option("--topology", metavar="TOPOLOGY", help="The VkPrimitiveTopology: POINT_LIST. [default: what fits]"),
    click.option(
        "--profile", metavar="STACK",
        help="Enable what this stack does: webgpu, dxvk, vkd3d (robustness and the like), or vulkan. [default: vulkan]",
    ),
    click.option("--no-optimize", is_flag=True, help="Ask for code that is not optimised."),
    click.option(
        "--config", metavar="FILE", help="The manifest. [default without PATH: the nearest shaderstat.yaml]"
    ),
)  # fmt: skip

run = _all(
    click.option(
        "--dispatch", multiple=True, metavar="X,Y,Z",
        help="Run a compute shader in so many workgroups. Repeatable, as are the next three: several commands.",
    ),
    click.option("--draw", multiple=True, metavar="VERTICES[,INSTANCES]", help="Draw with a graphics pipeline."),
    click.option(
        "--draw-mesh-tasks", multiple=True, metavar="X,Y,Z", help="Draw with a mesh pipeline: workgroups."
    ),
    click.option("--trace", multiple=True, metavar="W,H,D", help="Trace rays with a ray tracing pipeline."),
    click.option("--extent", metavar="W,H", help="Size of the off-screen target. [default: 64,64]"),
    click.option(
        "--repeat",
        type=click.IntRange(min=1, max=1_000_000),
        metavar="N",
        help="Submit it N times, each with resources filled anew. [default: 1]",
    ),
    click.option("--accumulate", is_flag=True, help="With --repeat: let counts add up, and read them once."),
    click.option(
        "--buffer", "buffers", multiple=True, metavar="SET.BINDING=FILL",
        help="What a buffer holds, and how large it is. Repeatable, as are the next two and --read.",
    ),
    click.option(
        "--image", "images", multiple=True, metavar="SET.BINDING=WxH[:FILL]",
        help="How large an image is, and what it holds.",
    ),
    click.option("--vertices", multiple=True, metavar="BINDING=FILL", help="What a vertex buffer holds."),
    click.option("--push", metavar="HEX|FILE", help="Push constants, from byte 0 on."),
    click.option(
        "--read", multiple=True, metavar="SET.BINDING=FILE", help="Write what a buffer holds after the run to a file."
    ),
    click.option("--no-metrics", is_flag=True, help="Run without instrumentation: nothing is counted."),
)  # fmt: skip

stages = _all(
    click.option(
        "--synthetic", is_flag=True,
        help="Show the executables of stages that were generated to go with a lone one, too.",
    ),
    click.option(
        "--stage", "stages", type=Stage(), multiple=True, metavar="STAGE", envvar="SHADERSTAT_STAGE",
        help="Only executables of this stage: vertex, fragment, compute...",
    ),
)  # fmt: skip

selection = _all(
    stages,
    click.option(
        "--stat", "statistics", multiple=True, metavar="GLOB", envvar="SHADERSTAT_STAT",
        help="Only statistics of such names: the driver's own, short (VGPRs) or general (registers).",
    ),
    click.option("--sort", metavar="STAT", help="The worst first, by this statistic; -STAT turns it round."),
    click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the first N executables of a target."),
    click.option(
        "--status", "statuses", multiple=True, type=click.Choice(STATUSES), metavar="STATUS",
        envvar="SHADERSTAT_STATUS", help="Only results of this status: crashed, timeout, failed... Repeatable.",
    ),
)  # fmt: skip


def output_of(formats: Iterable[str]) -> Decorator:
    """Where the answer goes, and in which of these formats."""
    return _all(
        click.option(
            "-f", "--format", type=click.Choice(list(formats)), default="table", show_default=True,
            help="How to write it.",
        ),
        click.option("--json", is_flag=True, help="The same as -f json."),
        click.option(
            "-o", "--output", "outputs", multiple=True, metavar="[FORMAT:]PATH", envvar="SHADERSTAT_OUTPUT",
            help="Write there instead of standard output; repeatable. Without FORMAT: that of -f, else by the"
            " name's ending; ./a:b is a file whose name has a colon. An existing file is replaced at the end, whole or"
            " not at all.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors."),
        click.option("-v", "--verbose", count=True, help="Say more: the driver's descriptions."),
        click.option(
            "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
            help="Colour. auto: on a terminal, unless NO_COLOR is set.",
        ),
    )  # fmt: skip


output = output_of(FORMATS)
