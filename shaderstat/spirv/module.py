"""A module as it stands in its words, after `shaderstat.spirv.parse` went through them."""

from __future__ import annotations

from dataclasses import field

from shaderstat.errors import InvalidSpirv
from shaderstat.plain import dataclass
from shaderstat.spirv.words import Words

Decorations = dict[int, tuple[int, ...]]


@dataclass(slots=True)
class Entry:
    """An OpEntryPoint: `model` is the execution model, `interface` its ids (each once), `index` its first word."""

    model: int
    function: int
    name: str
    interface: tuple[int, ...]
    index: int


@dataclass(slots=True)
class Function:
    """A function: its words are ``code[index:end]``, `calls` maps a called function to the word of a call, `uses` are
    the module-scope variables whose ids occur in it; without `has_body` it is only declared."""

    id: int
    index: int
    end: int = 0
    calls: dict[int, int] = field(default_factory=dict)
    uses: set[int] = field(default_factory=set)
    has_body: bool = False


@dataclass(slots=True)
class Module:
    """A module as it stands in its words.

    Attributes:
        code: all words, header included; `raw` are their bytes, lowest first.
        modes: execution modes by function: mode → operands; `mode_ids` those whose operands are ids.
        decorations, member_decorations: by target (and member); groups are resolved.
        definitions: the first word of the instruction that makes an id.
        declarations: first words of the types, constants and undefined values outside functions, in order.
        variables: first words of the module-scope variables by id.
        functions: by id.
        names, member_names: the first word of OpName by id, of OpMemberName by (id, member): see `name`.
        unknown_opcodes: opcodes that the tables don't know.
        newer: the module says that it needs something that the tables don't know: leave judging to others.
    """

    words: Words
    code: list[int]
    raw: bytes
    capabilities: list[int] = field(default_factory=list)
    extensions: list[str] = field(default_factory=list)
    imports: dict[int, str] = field(default_factory=dict)
    addressing: int = 0
    memory: int = 1
    entries: list[Entry] = field(default_factory=list)
    modes: dict[int, Decorations] = field(default_factory=dict)
    mode_ids: dict[int, Decorations] = field(default_factory=dict)
    decorations: dict[int, Decorations] = field(default_factory=dict)
    member_decorations: dict[int, dict[int, Decorations]] = field(default_factory=dict)
    definitions: dict[int, int] = field(default_factory=dict)
    declarations: list[int] = field(default_factory=list)
    variables: dict[int, int] = field(default_factory=dict)
    functions: dict[int, Function] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)
    member_names: dict[tuple[int, int], int] = field(default_factory=dict)
    unknown_opcodes: dict[int, int] = field(default_factory=dict)
    newer: bool = False

    def name(self, id: int) -> str:
        """The OpName of an id; empty where there is none."""
        index = self.names.get(id)
        return self.string(index + 2) if index is not None else ""

    def member_name(self, id: int, member: int) -> str:
        """The OpMemberName of a struct's member; empty where there is none."""
        index = self.member_names.get((id, member))
        return self.string(index + 3) if index is not None else ""

    def string(self, at: int) -> str:
        """The string at word `at`, known to be closed."""
        return self.raw[at * 4 : self.raw.index(b"\0", at * 4)].decode("utf-8", "replace")


def invalid(code: str, message: str, index: int, *, hint: str | None = None) -> InvalidSpirv:
    """An error at word `index`, which ends its message."""
    return InvalidSpirv(code, f"{message}, word {index} (byte {index * 4})", offset=index * 4, hint=hint)
