"""The validator's word before a driver sees a module (reference: wgpu #7198: broken SPIR-V kills drivers)."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.backends.base import DeviceFacts
from shaderstat.child.spirv_tool import Options
from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Diagnostic
from shaderstat.pipeline.stages import StageInput

# Verdicts of this child, by the module's words: a vertex shader shared by a hundred pipelines is read once.
_REMEMBERED = 256


class Validator:
    """SPIRV-Tools with one device's rules."""

    def __init__(self, tools: SpirvTools, facts: DeviceFacts) -> None:
        self._tools = tools
        major, minor, _ = facts.api_version
        self._environment = f"vulkan{major}.{minor}"
        self._options = options(facts)
        self._verdicts: dict[bytes, Diagnostic | None] = {}

    def check(self, stages: Sequence[StageInput], remarks: list[Diagnostic], *, timeout_s: float) -> None:
        """Validate every module of a pipeline; an old validator's refusal is added to `remarks`.

        Args:
            timeout_s: what there is for the whole pipeline: an endless validation must not use it up, or the next
                pipeline of this module would only run into it again.

        Raises:
            InvalidSpirv: ``spirv/invalid`` with the validator's own words.
        """
        self._tools.take_at_most(timeout_s / 4)
        for stage in stages:
            words = stage.words
            if words not in self._verdicts:
                if len(self._verdicts) >= _REMEMBERED:
                    self._verdicts.clear()
                self._verdicts[words] = self._verdict(words)
            found = self._verdicts[words]
            if found is None:
                continue
            if found.severity == "error":
                error = InvalidSpirv(found.code, found.message, offset=found.offset, hint=found.hint)
                error.path = stage.path
                raise error
            remarks.append(Diagnostic(found.severity, found.code, found.message, found.hint, stage.path, found.offset))

    def _verdict(self, words: bytes) -> Diagnostic | None:
        verdict = self._tools.validate(words, self._environment, self._options)
        if verdict.status == "ok":
            return None
        if verdict.status == "refused":
            hint = "--no-validate hands it to the driver all the same"
            return Diagnostic("error", "spirv/invalid", verdict.message, hint, offset=verdict.offset)
        if verdict.status == "too-old":
            hint = "a newer SPIRV-Tools: pip install 'shaderstat[spirv]'"
            return Diagnostic("warning", "spirv/validator-too-old", verdict.message, hint, offset=verdict.offset)
        if self._tools.version is None:
            return None  # said once for the run
        return Diagnostic("warning", "spirv/not-validated", f"not validated: {verdict.message}")


def options(facts: DeviceFacts) -> Options:
    """The validator's options that go with what is enabled on the device."""
    return Options(
        scalar_block_layout=facts.has_feature("VkPhysicalDeviceScalarBlockLayoutFeatures", "scalarBlockLayout"),
        uniform_buffer_standard_layout=facts.has_feature(
            "VkPhysicalDeviceUniformBufferStandardLayoutFeatures", "uniformBufferStandardLayout"
        ),
        workgroup_scalar_block_layout=facts.has_feature(
            "VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR", "workgroupMemoryExplicitLayoutScalarBlockLayout"
        ),
        relax_block_layout=facts.api_version >= (1, 1, 0) or facts.has_extension("VK_KHR_relaxed_block_layout"),
        local_size_id=facts.has_feature("VkPhysicalDeviceMaintenance4Features", "maintenance4"),
    )
