"""The raw ABI: `ffi` and `lib` of the package `vulkan`, and function pointers. The only module that imports it.

Nothing else of that package is used: its constructors drop what their structs point to, its wrappers lose data at
VK_INCOMPLETE and never give a representation's bytes, and several of its constants are wrong.

Importing this module raises OSError where there is no Vulkan loader.
"""

from __future__ import annotations

from typing import Any

from vulkan import ffi, lib

from shaderstat.backends.base import DriverError
from shaderstat.registry.vulkan import result_name

# The types that ffi lacks. Another FFI: pointers between the two go through ``void *`` members only.
from ._generated_ffi import ffi as extra_ffi

__all__ = ["NULL", "Functions", "check", "device_functions", "extra_ffi", "ffi", "instance_functions"]

NULL = ffi.NULL
SUCCESS = 0
INCOMPLETE = 5

if ffi.sizeof("void *") != 8:
    # The package declares non-dispatchable handles as pointers: right with 64 bits only.
    raise ImportError("Vulkan needs a 64-bit Python")


class Functions:
    """Function pointers by name, looked up when first asked for.

    Attributes:
        handle: the VkInstance or VkDevice that they belong to (NULL for global commands).
    """

    def __init__(self, get: Any, handle: Any) -> None:
        self.handle = handle
        self._get = get
        self._found: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """The command as a callable that takes and returns cdata and numbers; None where it is not there, which is
        the normal answer for a command of an extension that is not enabled."""
        if name not in self._found:
            pointer = self._get(self.handle, name.encode())
            self._found[name] = None if pointer == NULL else _function(name, pointer)
        return self._found[name]

    def __getitem__(self, name: str) -> Any:
        """As `find`.

        Raises:
            DriverError: the driver has no such command.
        """
        function = self.find(name)
        if function is None:
            raise DriverError(name, None, "has no function pointer")
        return function


def _function(name: str, pointer: Any) -> Any:
    """A pointer as a callable, of whichever FFI knows the command."""
    if "ShaderInstrumentation" not in name:
        return ffi.cast("PFN_" + name, pointer)
    return extra_ffi.cast("PFN_" + name, int(ffi.cast("uintptr_t", pointer)))


def instance_functions(instance: Any) -> Functions:
    """Commands of an instance and of physical devices; with NULL the global ones."""
    return Functions(lib.vkGetInstanceProcAddr, instance)


def device_functions(device: Any) -> Functions:
    """Commands of a device, without the loader's trampoline."""
    return Functions(lib.vkGetDeviceProcAddr, device)


def check(call: str, result: int) -> None:
    """Raise DriverError for any result but VK_SUCCESS, positive ones included."""
    if result != SUCCESS:
        raise DriverError(call, result_name(result))
