"""Vulkan objects that live as long as a context: created from plain data, destroyed in reverse order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from shaderstat.backends.base import DeviceFacts
from shaderstat.errors import Unsupported

from .binding import NULL, Functions, check
from .builder import Arena


class Objects:
    """Creates objects, and has `stack` destroy them.

    Attributes:
        functions: the device's commands.
        stack: what else must be done before an object that it was created after goes, can be put on it.
    """

    def __init__(self, functions: Functions, facts: DeviceFacts, stack: ExitStack) -> None:
        self.functions = functions
        self.stack = stack
        self._facts = facts

    def create(
        self,
        type: str,
        plain: Mapping[str, Any],
        handles: Mapping[str, Sequence[Any]] | None = None,
        *,
        name: str | None = None,
        struct: str | None = None,
    ) -> Any:
        """An object of Vulkan's type `type`.

        Args:
            handles: what indices in `plain` stand for.
            name: of its vkCreate… where it isn't the type's.
            struct: its create info where that isn't named after the command.

        Raises:
            DriverError: a VkResult other than success.
            Unsupported: ``vulkan/state``: the device has no such command.
        """
        name = name or type.removeprefix("Vk")
        function = self.command(f"vkCreate{name}")
        arena = Arena(handles)
        handle = arena.new(type + " *")
        info = arena.build(struct or f"Vk{name}CreateInfo", plain)
        check(f"vkCreate{name}", function(self.functions.handle, info, NULL, handle))
        self.destroy_later(type, handle[0])
        return handle[0]

    def command(self, name: str) -> Any:
        """A device command by its name of today, or by that which it had as an extension's.

        Raises:
            Unsupported: ``vulkan/state``.
        """
        function = self.functions.find(name) or (None if name.endswith("KHR") else self.functions.find(name + "KHR"))
        if function is None:
            raise Unsupported("vulkan/state", f"{self._facts.device.name} has no {name}")
        return function

    def destroy_later(self, type: str, handle: Any) -> None:
        """Have an object destroyed that was created elsewhere."""
        self.stack.callback(self.command("vkDestroy" + type.removeprefix("Vk")), self.functions.handle, handle, NULL)
