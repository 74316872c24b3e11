"""Inline assembly: operands go in, the instructions run one by one, results come out.

Where one instruction has no lowering the whole text stays opaque, with its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from portcheck.core.dtype import BOOL, FLOAT32, FLOAT64, UINT16, UINT32, UINT64, DType, dtype_named
from portcheck.frontends.cuda.assembly.ptx import Instruction, Memory, Name, Written, instructions_of
from portcheck.frontends.cuda.expressions.arithmetic import select, unary
from portcheck.frontends.cuda.expressions.numbers import bits_of, joined, literal, reinterpreted, split, unsigned_of
from portcheck.frontends.cuda.memory.addresses import moved_by_bytes, pointer_at
from portcheck.frontends.cuda.memory.places import address_expression, pointer_of, read, write
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.reach import memory
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Nothing, Place, Pointer, PointerCell, Scalar, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.text.literals import string_literal
from portcheck.ir import Const, OpaqueKind
from portcheck.knowledge import Construct, Semantics

_WIDTHS = {"h": UINT16, "r": UINT32, "l": UINT64, "f": FLOAT32, "d": FLOAT64, "n": UINT32, "i": UINT32}
"""The register a constraint asks for."""
_PREFIX = "ptx::"
_CHANGING = frozenset({Semantics.QUALIFIER_CHANGING})
_TEXTS = frozenset({"string_literal", "raw_string_literal"})

Kept = Scalar | Pointer | tuple[Scalar, ...]
"""What a register holds: a number, an address, or numbers side by side."""


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction with what is known of it: `modifiers` are the parts after its name."""

    written: Instruction
    construct: Construct
    modifiers: tuple[Construct, ...]

    @property
    def via(self) -> str:
        """The name for the mapping table."""
        return self.written.text

    @property
    def types(self) -> list[Construct]:
        """The types it names, the result's first."""
        return [part for part in self.modifiers if part.semantics is Semantics.TYPE]

    @property
    def dtype(self) -> DType | None:
        """The first type it names."""
        return dtype_named(self.types[0].dtype) if self.types else None

    def has(self, name: str) -> bool:
        """Whether it has the modifier `name`."""
        return name in self.written.opcode

    def one(self, *semantics: Semantics) -> Construct | None:
        """The first modifier that means one of these."""
        return next((part for part in self.modifiers if part.semantics in semantics), None)


Special = Callable[[State, str], Scalar | None]


class UnreadInstructionError(Exception):
    """An instruction, or a form of it, that has no lowering; the message names it."""


@dataclass
class Run:
    """The registers of one piece of assembly while it is read."""

    state: State
    node: Node
    special: Special
    registers: dict[str, Kept] = field(default_factory=dict)
    carry: Scalar | None = None
    guard: Scalar | None = None

    def value(self, written: Written, dtype: DType) -> Scalar:
        """The number in a register, or written out, as `dtype` reads its bits."""
        if not isinstance(written, Name):
            raise UnreadInstructionError("operand")
        kept = self.registers.get(written.text)
        if kept is None:
            kept = literal(written.text, dtype) or self.special(self.state, written.text)
        if kept is None:
            raise UnreadInstructionError(f"register {written.text}")
        number = self._number(kept)
        if number.dtype == BOOL or dtype == BOOL:
            number = convert(self.state, number, dtype)
        number = reinterpreted(self.state, number, dtype)
        return unary(self.state, "!", number) or number if written.is_negated else number

    def word(self, written: Written, dtype: DType) -> Scalar:
        """The number in a register in whatever type of `dtype`'s width it has, for what only moves it."""
        kept = self.registers.get(written.text) if isinstance(written, Name) else None
        is_same = isinstance(kept, Scalar) and bits_of(self.state, kept.dtype) == bits_of(self.state, dtype)
        return kept if isinstance(kept, Scalar) and is_same and kept.dtype != BOOL else self.value(written, dtype)

    def lanes(self, written: Written, dtype: DType, count: int) -> list[Scalar]:
        """The numbers that lie side by side in a register."""
        if count == 1:
            return [self.value(written, dtype)]
        kept = self.registers.get(written.text) if isinstance(written, Name) else None
        if isinstance(kept, tuple) and len(kept) == count:
            return [reinterpreted(self.state, part, dtype) for part in kept]
        word = unsigned_of(bits_of(self.state, dtype) * count)
        return split(self.state, self.value(written, word), dtype, count)

    def pieces(self, written: Written, dtype: DType, count: int) -> list[Scalar]:
        """The parts of equal width that a register of `dtype` is taken apart into."""
        kept = self.registers.get(written.text) if isinstance(written, Name) else None
        if isinstance(kept, tuple) and len(kept) == count:
            return list(kept)
        return split(self.state, self.value(written, dtype), unsigned_of(bits_of(self.state, dtype) // count), count)

    def address(self, written: Written) -> Pointer:
        """The address in a register, the distance written beside it included."""
        base, offset = (written.base, written.offset) if isinstance(written, Memory) else (written, 0)
        kept = self.kept(base)
        pointer = kept if isinstance(kept, Pointer) else None
        if isinstance(kept, Scalar):
            pointer = pointer_at(self.state, kept.expr)
        if pointer is None:
            raise UnreadInstructionError(f"address {getattr(base, 'text', '')}")
        return moved_by_bytes(self.state, pointer, offset)

    def kept(self, written: Written) -> Kept:
        """What a register holds, as it is."""
        found = self.registers.get(written.text) if isinstance(written, Name) else None
        if found is None:
            raise UnreadInstructionError("operand")
        return found

    def put(self, written: Written, value: Kept) -> None:
        """Gives a register a value; under a guard, only where it holds."""
        if not isinstance(written, Name):
            raise UnreadInstructionError("result")
        name = written.text
        if name == "_":
            return
        if self.guard is not None:
            old = self.registers.get(name)
            number = self._number(value)
            before = self._number(old) if old is not None else Scalar(Const(0, number.dtype), number.dtype)
            value = select(self.state, self.guard, number, reinterpreted(self.state, before, number.dtype))
        self.registers[name] = value

    def _number(self, kept: Kept) -> Scalar:
        if isinstance(kept, tuple):
            return joined(self.state, kept)
        return Scalar(address_expression(self.state, kept), UINT64) if isinstance(kept, Pointer) else kept


Handler = Callable[[Run, Step], None]


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """What instructions do, by their meaning; and which parts that change a result each of them takes."""

    handlers: Mapping[Semantics, Handler]
    honoured: Mapping[Semantics, frozenset[str]]

    def handler(self, step: Step) -> Handler:
        """What `step` does; raises where that, or a part of its opcode, has no lowering."""
        found = self.handlers.get(step.construct.semantics)
        taken = self.honoured.get(step.construct.semantics, frozenset())
        changing = {part.name.rpartition(".")[2] for part in step.modifiers if part.semantics in _CHANGING}
        if found is None or changing - taken:
            raise UnreadInstructionError(step.written.text)
        return found


def assembly(state: State, node: Node, known: InstructionSet, special: Special) -> Value:
    """What the assembly at `node` does."""
    code = node.field("assembly_code")
    text = _text_of(code) if code is not None else ""
    listed = instructions_of(text)
    if listed is None:
        return _kept(state, node, "assembly with jumps or unknown text")
    run = Run(state, node, special)
    with state.builder.region() as emitted:
        problem = _executed(run, listed, known)
    if problem:
        return _kept(state, node, problem)
    state.builder.adopt(emitted)
    return Nothing()


def _executed(run: Run, listed: tuple[Instruction, ...], known: InstructionSet) -> str:
    """Runs all instructions; why that is not possible, "" where it was."""
    try:
        outputs = _bound(run)
        for written in listed:
            step = _known(run.state, written)
            handler = known.handler(step)
            run.guard = run.value(written.guard, BOOL) if written.guard is not None else None
            handler(run, step)
        for name, place, constraint in outputs:
            _write_back(run, name, place, constraint)
    except UnreadInstructionError as error:
        return f"assembly: {error} is not modelled"
    return ""


def _bound(run: Run) -> list[tuple[str, Place | PointerCell, str]]:
    """Puts the operands into their registers; gives those that are written with where they go."""
    outputs: list[tuple[str, Place | PointerCell, str]] = []
    for number, operand in enumerate(_operands(run.node)):
        constraint_node, value_node = operand.field("constraint"), operand.field("value")
        if constraint_node is None or value_node is None:
            raise UnreadInstructionError("operand")
        constraint = string_literal(constraint_node.text)
        name, width = f"%{number}", _WIDTHS.get(constraint.lstrip("=+&"))
        value = run.state.evaluate(value_node)
        if constraint[:1] in ("=", "+"):
            if not isinstance(value, Place | PointerCell):
                raise UnreadInstructionError("result that is no variable")
            outputs.append((name, value, constraint))
        if not constraint.startswith("="):
            run.registers[name] = _held(run.state, value, value_node, width)
    return outputs


def _operands(node: Node) -> list[Node]:
    lists = (node.field("output_operands"), node.field("input_operands"))
    return [operand for listed in lists if listed is not None for operand in listed.named]


def _held(state: State, value: Value, node: Node, width: DType | None) -> Kept:
    """An operand as its register holds it: small integers are made as wide."""
    pointer = pointer_of(state, value)
    if pointer is not None:
        return pointer
    loaded = read(state, value, node)
    if not isinstance(loaded, Scalar):
        raise UnreadInstructionError(f"operand {node.text}")
    if state.is_address(loaded.expr):
        return loaded
    if width is None or not (loaded.dtype.is_integer and width.is_integer):
        return loaded
    return convert(state, loaded, width)


def _write_back(run: Run, name: str, place: Place | PointerCell, constraint: str) -> None:
    kept = run.registers.get(name)
    if kept is None:
        raise UnreadInstructionError(f"result {name}")
    if isinstance(kept, Pointer):
        write(run.state, place, kept, run.node, "asm")
        return
    width = _WIDTHS.get(constraint.lstrip("=+&"), UINT32)
    number = run.value(Name(name), width)
    write(run.state, place, number, run.node, "asm")


def _known(state: State, written: Instruction) -> Step:
    """What is known of an instruction: the longest name that is, and what its other parts are."""
    for length in range(len(written.opcode), 0, -1):
        construct = state.construct(_PREFIX + ".".join(written.opcode[:length]))
        if construct is not None:
            found = [state.construct(f"{_PREFIX}.{part}") for part in written.opcode[length:]]
            if any(part is None for part in found):
                break
            return Step(written, construct, tuple(part for part in found if part is not None))
    raise UnreadInstructionError(written.text)


def _text_of(code: Node) -> str:
    pieces = code.named if code.type == "concatenated_string" else [code]
    return "".join(string_literal(piece.text) for piece in pieces if piece.type in _TEXTS).replace("%%", "%")


def _kept(state: State, node: Node, reason: str) -> Value:
    """The assembly as it stands: its operands are read, and a clobber of memory may write all there is."""
    clobbers = node.field("clobbers")
    listed = clobbers.named if clobbers is not None else []
    is_free = any(found.text.strip('"') == "memory" for found in listed)
    written = memory(state) if is_free else ()
    return state.keep(node, reason, writes=written, kind=OpaqueKind.ASSEMBLY)
