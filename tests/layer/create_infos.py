"""C that prints Vulkan's create infos as JSON, generated from vk.xml: layouts of its own, no header and no cffi.

Every struct that the creation of a pipeline can reach has a printer; handles are printed as numbers, names of
enumerations too. What is chained to pNext is found by its sType.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

ROOTS = {
    "vkCreateInstance": "VkApplicationInfo",
    "vkCreateShaderModule": "VkShaderModuleCreateInfo",
    "vkCreateSampler": "VkSamplerCreateInfo",
    "vkCreateSamplerYcbcrConversion": "VkSamplerYcbcrConversionCreateInfo",
    "vkCreateDescriptorSetLayout": "VkDescriptorSetLayoutCreateInfo",
    "vkCreatePipelineLayout": "VkPipelineLayoutCreateInfo",
    "vkCreateRenderPass": "VkRenderPassCreateInfo",
    "vkCreateRenderPass2": "VkRenderPassCreateInfo2",
    "vkCreateComputePipelines": "VkComputePipelineCreateInfo",
    "vkCreateGraphicsPipelines": "VkGraphicsPipelineCreateInfo",
    "vkCreateRayTracingPipelinesKHR": "VkRayTracingPipelineCreateInfoKHR",
}
_C = {
    "char": "char", "void": "void", "float": "float", "double": "double", "size_t": "size_t", "int": "int",
    "uint8_t": "uint8_t", "uint16_t": "uint16_t", "uint32_t": "uint32_t", "uint64_t": "uint64_t",
    "int32_t": "int32_t", "int64_t": "int64_t", "VkBool32": "uint32_t", "VkFlags": "uint32_t",
    "VkFlags64": "uint64_t", "VkDeviceSize": "uint64_t", "VkDeviceAddress": "uint64_t", "VkSampleMask": "uint32_t",
    "LPCWSTR": "void *", "HANDLE": "void *",
}  # fmt: skip


class Printers:
    """The C of all printers, for one vk.xml."""

    def __init__(self, vk: Any) -> None:
        self._vk = vk
        self._names: list[str] = []
        for root in ROOTS.values():
            self._visit(root)
        for name, struct in vk.structs.items():
            if struct.sType and set(struct.extends) & set(self._names) and not _odd(struct):
                self._visit(name)

    def _visit(self, name: str) -> None:
        """Structs after those that they hold."""
        if name in self._names:
            return
        struct = self._vk.structs[name]
        for member in struct.members:
            if member.type in self._vk.structs and member.type != name:
                self._visit(member.type)
        if name not in self._names:
            self._names.append(name)

    def source(self) -> str:
        """All of it: definitions, printers, ``print_chain`` and the table of feature structs."""
        return "\n".join(
            [*self._definitions(), *self._printers(), *self._chain(), *self._features(), *self._extensions()]
        )

    def _type(self, name: str) -> str:
        if name in self._vk.structs:
            return f"{'union' if self._vk.structs[name].union else 'struct'} S_{name}"
        if name in self._vk.enums:
            return "int32_t"
        if name in self._vk.bitmasks:
            return "uint64_t" if self._vk.bitmasks[name].bitWidth == 64 else "uint32_t"
        if name in self._vk.flags:
            return "uint64_t" if self._vk.flags[name].bitWidth == 64 else "uint32_t"
        if name in self._vk.handles:
            return "uint64_t"
        return _C.get(name, "void *")

    def _definitions(self) -> Iterator[str]:
        for name in self._names:
            struct = self._vk.structs[name]
            yield f"{self._type(name)} {{"
            for member in struct.members:
                stars = "*" * member.fullType.count("*")
                sizes = "".join(f"[{self._size(each)}]" for each in member.fixedSizeArray)
                yield f"    {self._type(member.type)} {stars}{member.name}{sizes};"
            yield "};"

    def _size(self, text: str) -> str:
        return text if text.isdecimal() else str(self._vk.constants[text].value)

    def _printers(self) -> Iterator[str]:
        yield "static void print_chain(const void *first);"
        for name in self._names:
            yield f"static void print_{name}(const {self._type(name)} *p);"
        for name in self._names:
            struct = self._vk.structs[name]
            yield f"static void print_{name}(const {self._type(name)} *p)\n{{"
            yield "    int n = 0; (void)n; (void)p; begin();"
            for member in struct.members:
                if member.name != "sType":
                    yield from self._member(struct, member)
            yield "    finish();\n}"

    def _member(self, struct: Any, member: Any) -> Iterator[str]:
        place = f"p->{member.name}"
        if member.name == "pNext":
            yield '    key(&n, "pNext"); print_chain(p->pNext);'
        elif member.selector:
            union = self._vk.structs[member.type]
            yield f'    key(&n, "{member.name}"); begin(); switch (p->{member.selector}) {{'
            for choice in union.members:
                for word in choice.selection:
                    number = next(
                        each.value for enum in self._vk.enums.values() for each in enum.fields if each.name == word
                    )
                    printed = self._one(choice.type, f"{place}.{choice.name}")
                    yield f'    case {number}: {{ int n = 0; key(&n, "{choice.name}"); {printed} break; }}'
            yield "    } finish();"
        elif struct.union and member.fixedSizeArray and member.name != "uint32":
            return  # the same bits, once more
        elif member.fixedSizeArray:
            count = self._size(member.fixedSizeArray[0])
            yield self._list(member, place, count)
        elif member.pointer and member.type == "char" and member.fullType.count("*") == 1:
            yield f'    if ({place}) {{ key(&n, "{member.name}"); print_text({place}); }}'
        elif member.pointer and member.type == "void":
            if member.length and member.length.isidentifier():
                yield f'    if ({place}) {{ key(&n, "{member.name}"); print_bytes({place}, p->{member.length}); }}'
        elif member.pointer and member.length and member.fullType.count("*") == 1:
            if member.name != "pCode":
                count = re.sub(r"[A-Za-z_]\w*", lambda found: f"p->{found[0]}", member.length)
                yield f"    if ({place}) {{{self._list(member, place, count)} }}"
        elif member.pointer and member.fullType.count("*") == 1:
            if self._known(member.type):
                printed = self._one(member.type, f"(*{place})")
                yield f'    if ({place}) {{ key(&n, "{member.name}"); {printed} }}'
        elif not member.pointer and self._known(member.type):
            yield f'    key(&n, "{member.name}"); {self._one(member.type, place)}'

    def _known(self, type: str) -> bool:
        return self._type(type) not in ("void *", "void")

    def _list(self, member: Any, place: str, count: str) -> str:
        printed = self._one(member.type, f"{place}[i]")
        return (
            f' key(&n, "{member.name}"); out("["); for (uint64_t i = 0; i < (uint64_t)({count}); ++i)'
            f' {{ if (i) out(","); {printed} }} out("]");'
        )

    def _one(self, type: str, place: str) -> str:
        if type in self._vk.structs:
            return f"print_{type}(&{place});"
        kind = self._type(type)
        if kind in ("float", "double"):
            return f'out("%.9g", (double){place});'
        return f'out("%lld", (long long){place});'

    def _chain(self) -> Iterator[str]:
        yield 'static void print_chain(const void *first)\n{\n    int n = 0; out("[");'
        yield "    for (const struct any *each = first; each; each = each->pNext) {"
        yield '        if (n++) out(",");\n        switch (each->sType) {'
        for name in self._names:
            struct = self._vk.structs[name]
            if struct.sType and struct.extends:
                yield f'        case {self._s_type(struct)}: out("[\\"{name}\\",");'
                yield f"            print_{name}((const void *)each); break;"
        yield '        default: out("[\\"%d\\",{}", each->sType);'
        yield '        }\n        out("]");\n    }\n    out("]");\n}'

    def _s_type(self, struct: Any) -> int:
        fields = self._vk.enums["VkStructureType"].fields
        return int(next(each.value for each in fields if each.name == struct.sType))

    def _features(self) -> Iterator[str]:
        """sType and number of VkBool32 members of every feature struct."""
        yield "static const struct { int sType; int members; } feature_structs[] = {"
        for struct in self._vk.structs.values():
            if "VkPhysicalDeviceFeatures2" in struct.extends:
                yield f"    {{ {self._s_type(struct)}, {len(struct.members) - 2} }},"
        yield "};"

    def _extensions(self) -> Iterator[str]:
        yield "static const char *const extension_names[] = {"
        for name, extension in self._vk.extensions.items():
            if extension.device:
                yield f'    "{name}",'
        yield "};"


def _odd(struct: Any) -> bool:
    """Structs of platforms and of things that nobody prints."""
    return bool(struct.protect) or any(member.bitFieldWidth for member in struct.members)
