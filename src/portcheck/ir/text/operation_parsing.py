"""Reading one operation: its fields, without id, result type, place and regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from portcheck.ir.access import Access
from portcheck.ir.expr import Expr
from portcheck.ir.iteration import Range, Sequence
from portcheck.ir.kinds import (
    CheckKind,
    CollectiveKind,
    ExchangeKind,
    Filter,
    LeaveKind,
    MemoryOrder,
    OpaqueKind,
    Order,
    Outside,
    Rounding,
    SampleKind,
    Scope,
    WriteMode,
)  # fmt: skip
from portcheck.ir.operators import Operator
from portcheck.ir.ops import (
    Alloc,
    Assume,
    Atomic,
    Barrier,
    Branch,
    Call,
    Cast,
    Check,
    Collective,
    Compute,
    Copy,
    Exchange,
    Fence,
    Leave,
    Load,
    Loop,
    Matmul,
    Opaque,
    Operation,
    Random,
    Reduce,
    Return,
    Sample,
    Scan,
    Select,
    Sort,
    Store,
    Transpose,
    While,
)  # fmt: skip
from portcheck.ir.text.expression_parsing import ExpressionParser
from portcheck.ir.text.tokens import Choice, Cursor
from portcheck.ir.types import AxisKind

Fields = dict[str, Any]
_ROUNDINGS = {rounding.value: rounding for rounding in Rounding}
_LOOP_KINDS = {kind.value: kind for kind in AxisKind}


class OperationParser(ExpressionParser):
    """Reads the operations, one method for each kind."""

    def operation(self, cursor: Cursor) -> tuple[type[Operation], Fields]:
        """The class of the operation whose first word is next, and its fields."""
        word = cursor.word()
        kind, read = self._kinds().get(word, (None, None))
        if kind is None or read is None:
            cursor.fail(f"there is no operation {word!r}")
        return kind, read(cursor)

    def _kinds(self) -> dict[str, tuple[type[Operation], Callable[[Cursor], Fields]]]:
        return {
            "alloc": (Alloc, self._alloc),
            "load": (Load, self._load),
            "store": (Store, self._store),
            "copy": (Copy, self._copy),
            "compute": (Compute, self._compute),
            "cast": (Cast, self._cast),
            "reduce": (Reduce, self._reduce),
            "scan": (Scan, self._scan),
            "matmul": (Matmul, self._matmul),
            "transpose": (Transpose, self._transpose),
            "exchange": (Exchange, self._exchange),
            "sort": (Sort, self._sort),
            "collective": (Collective, self._collective),
            "select": (Select, self._select),
            "barrier": (Barrier, self._barrier),
            "fence": (Fence, self._fence),
            "atomic": (Atomic, self._atomic),
            "random": (Random, self._random),
            "sample": (Sample, self._sample),
            "loop": (Loop, self._loop),
            "while": (While, lambda cursor: {"body_first": cursor.accept("body_first")}),
            "branch": (Branch, lambda cursor: {"condition": self.expression(cursor)}),
            "leave": (Leave, lambda cursor: {"kind": cursor.choice(LeaveKind)}),
            "return": (Return, self._return),
            "call": (Call, self._call_of_helper),
            "assume": (Assume, lambda cursor: {"condition": self.expression(cursor)}),
            "check": (Check, self._check),
            "opaque": (Opaque, self._opaque),
        }

    def _clauses(self, cursor: Cursor, **readers: Callable[[Cursor], Any]) -> Fields:
        """Clauses such as `order(any)`, in any order, each at most once."""
        found: Fields = {}
        while cursor.peek().kind == "word" and cursor.peek().text in readers:
            word = cursor.word()
            if word in found:
                cursor.fail(f"{word!r} stands here twice")
            found[word] = self.in_parentheses(cursor, readers[word])
        return found

    def access(self, cursor: Cursor) -> Access:
        """The elements of a buffer."""
        buffer = cursor.name()
        index: tuple[Expr, ...] = ()
        if cursor.accept("["):
            index = self.expressions(cursor)
            cursor.expect("]")
        clauses = self._clauses(
            cursor, over=lambda cursor: self.listed(cursor, self.axis), mask=self.expression, outside=_one_of(Outside)
        )
        axes = clauses.pop("over", ())
        return Access(buffer=buffer, index=index, axes=axes, is_volatile=cursor.accept("volatile"), **clauses)

    def _alloc(self, cursor: Cursor) -> Fields:
        name = cursor.name()
        cursor.expect(":")
        fields: Fields = {"name": name, "type": self.type(cursor), "dynamic": cursor.accept("dynamic")}
        if cursor.accept("of"):
            fields["base"] = cursor.name()
        return fields

    def _load(self, cursor: Cursor) -> Fields:
        return {"access": self.access(cursor), **self._clauses(cursor, fill=self.expression)}

    def _store(self, cursor: Cursor) -> Fields:
        access = self.access(cursor)
        is_added = self._written(cursor)
        return {"access": access, "value": self.expression(cursor), **self._mode(cursor, is_added)}

    def _copy(self, cursor: Cursor) -> Fields:
        destination = self.access(cursor)
        is_added = self._written(cursor)
        return {"destination": destination, "source": self.access(cursor), **self._mode(cursor, is_added)}

    def _written(self, cursor: Cursor) -> bool:
        if cursor.accept("+="):
            return True
        cursor.expect("=")
        return False

    def _mode(self, cursor: Cursor, is_added: bool) -> Fields:
        mode = WriteMode.ADD if is_added else WriteMode.OVERWRITE
        if not is_added and cursor.accept("group"):
            mode = WriteMode.GROUP
        return {"mode": mode, "unique_indices": cursor.accept("unique_indices")}

    def _compute(self, cursor: Cursor) -> Fields:
        operator, operands = self.application(cursor)
        return {
            "operator": operator,
            "operands": operands,
            "approximate": cursor.accept("approximate"),
            "contractible": cursor.accept("contractible"),
            **self._rounding(cursor),
            **self._clauses(cursor, mask=self.expression),
        }

    def _rounding(self, cursor: Cursor) -> Fields:
        return {"rounding": cursor.choice(Rounding)} if cursor.peek().text in _ROUNDINGS else {}

    def _cast(self, cursor: Cursor) -> Fields:
        fields = {"operand": self.expression(cursor), **self._rounding(cursor)}
        return {**fields, "saturating": cursor.accept("saturating"), "bitwise": cursor.accept("bitwise")}

    def _reduce(self, cursor: Cursor) -> Fields:
        operator = cursor.choice(Operator)
        operand = self.in_parentheses(cursor, self.expression)
        fields = self._clauses(
            cursor,
            dimensions=self._integers,
            lanes=self.expression,
            lanes_mask=self.expression,
            scope=_one_of(Scope),
            accumulate=self.type,
            order=_one_of(Order),
        )
        keep_dimensions = not cursor.accept("drop_dimensions")
        mask = self._clauses(cursor, mask=self.expression)
        return {"operator": operator, "operand": operand, "keep_dimensions": keep_dimensions, **fields, **mask}

    def _scan(self, cursor: Cursor) -> Fields:
        operator = cursor.choice(Operator)
        operands = self.list_in_parentheses(cursor)
        fields = self._clauses(
            cursor,
            dimension=Cursor.integer,
            lanes=self.expression,
            lanes_mask=self.expression,
            scope=_one_of(Scope),
            multiplier=_one_of(Operator),
            initial=self.expression,
        )
        fields |= {"inclusive": not cursor.accept("exclusive"), "reverse": cursor.accept("reverse")}
        fields |= self._clauses(cursor, order=_one_of(Order), accumulate=self.type, mask=self.expression)
        return {"operator": operator, "operands": operands, **fields}

    def _matmul(self, cursor: Cursor) -> Fields:
        stationary = self.expression(cursor)
        cursor.expect(",")
        moving = self.expression(cursor)
        clauses = self._clauses(cursor, accumulate=self.type, order=_one_of(Order))
        return {"stationary": stationary, "moving": moving, **clauses}

    def _transpose(self, cursor: Cursor) -> Fields:
        return {"operand": self.expression(cursor), **self._clauses(cursor, permutation=self._integers)}

    def _exchange(self, cursor: Cursor) -> Fields:
        kind = cursor.choice(ExchangeKind)
        operand = self.in_parentheses(cursor, self.expression)
        clauses = self._clauses(
            cursor,
            lane=self.expression,
            width=self.expression,
            lanes_mask=self.expression,
            pattern=self._integers,
        )
        return {"kind": kind, "operand": operand, **clauses}

    def _sort(self, cursor: Cursor) -> Fields:
        operand = self.expression(cursor)
        clauses = self._clauses(cursor, dimension=Cursor.integer)
        return {"operand": operand, **clauses, "descending": cursor.accept("descending")}

    def _collective(self, cursor: Cursor) -> Fields:
        kind, destination = cursor.choice(CollectiveKind), self.access(cursor)
        cursor.expect("=")
        clauses = {"destination": destination, "source": self.access(cursor)}
        return {
            "kind": kind,
            **clauses,
            **self._clauses(
                cursor, operator=_one_of(Operator), dimension=Cursor.integer, ranks=self._integers,
                group_size=Cursor.integer, send_to=self.expression, receive_from=self.expression,
                program_axes=self._integers,
            ),
        }  # fmt: skip

    def _select(self, cursor: Cursor) -> Fields:
        operands = self.selection(cursor)
        if len(operands) != 3:
            cursor.fail("a select has three operands")
        return dict(zip(("condition", "on_true", "on_false"), operands, strict=True))

    def _atomic(self, cursor: Cursor) -> Fields:
        operator = None if cursor.accept("exchange") else cursor.choice(Operator)
        access = self.access(cursor)
        clauses = self._clauses(
            cursor,
            value=self.expression,
            compare=self.expression,
            limit=self.expression,
            scope=_one_of(Scope),
            order=_one_of(MemoryOrder),
        )
        flags = {word: cursor.accept(word) for word in ("result_used", "unique_indices")}
        return {"operator": operator, "access": access, **clauses, **flags}

    def _barrier(self, cursor: Cursor) -> Fields:
        scope = cursor.choice(Scope)
        clauses = self._clauses(
            cursor, participants=self.expression, combine=_one_of(Operator), operand=self.expression
        )
        return {"scope": scope, **clauses}

    def _fence(self, cursor: Cursor) -> Fields:
        return {"scope": cursor.choice(Scope), **self._clauses(cursor, order=_one_of(MemoryOrder))}

    def _random(self, cursor: Cursor) -> Fields:
        generator, operands = cursor.name(), self.list_in_parentheses(cursor)
        return {
            "generator": generator,
            "operands": operands,
            **self._clauses(cursor, state=Cursor.name, distribution=Cursor.name),
        }

    def _sample(self, cursor: Cursor) -> Fields:
        kind = cursor.choice(SampleKind)
        texture, *coordinates = self.list_in_parentheses(cursor)
        clauses = self._clauses(
            cursor, component=Cursor.integer, layer=self.expression, level=self.expression, filter=_one_of(Filter),
            outside=_one_of(Outside),
        )  # fmt: skip
        is_normalised = True if cursor.accept("normalised") else False if cursor.accept("unnormalised") else None
        texture_and_rest = {"texture": texture, "coordinates": tuple(coordinates), "is_normalised": is_normalised}
        return {"kind": kind, **texture_and_rest, **clauses}

    def _loop(self, cursor: Cursor) -> Fields:
        variable = cursor.name()
        cursor.expect("=")
        start = self.expression(cursor)
        values: Range | Sequence
        if cursor.accept("while"):
            condition = self.expression(cursor)
            cursor.expect("next")
            values = Sequence(start=start, condition=condition, next=self.expression(cursor))
        else:
            cursor.expect("to")
            stop = self.expression(cursor)
            cursor.expect("step")
            values = Range(start=start, stop=stop, step=self.expression(cursor))
        fields: Fields = {"variable": variable, "values": values}
        if cursor.peek().text in _LOOP_KINDS:
            fields["kind"] = cursor.choice(AxisKind)
        return fields

    def _return(self, cursor: Cursor) -> Fields:
        has_buffers = cursor.peek().kind in ("word", "string") and not _is_via(cursor)
        found: list[tuple[str, tuple[Expr, ...] | None]] = []
        while has_buffers and (not found or cursor.accept(",")):
            found.append((cursor.name(), self._shape_in_brackets(cursor)))
        shapes = tuple(shape for _, shape in found if shape is not None)
        return {"buffers": tuple(name for name, _ in found), "shapes": shapes}

    def _shape_in_brackets(self, cursor: Cursor) -> tuple[Expr, ...] | None:
        if not cursor.accept("["):
            return None
        shape = () if cursor.peek().text == "]" else self.expressions(cursor)
        cursor.expect("]")
        return shape

    def _call_of_helper(self, cursor: Cursor) -> Fields:
        callee, arguments = cursor.name(), self.list_in_parentheses(cursor)
        return {"callee": callee, "arguments": arguments, **self._touched(cursor)}

    def _check(self, cursor: Cursor) -> Fields:
        kind = cursor.choice(CheckKind)
        clauses = self._clauses(cursor, condition=self.expression, operands=self.expressions, message=Cursor.string)
        return {"kind": kind, **clauses}

    def _opaque(self, cursor: Cursor) -> Fields:
        reason = cursor.string()
        kind = self._clauses(cursor, kind=_one_of(OpaqueKind))
        touched = self._touched(cursor)
        return {"reason": reason, **kind, **touched, **self._clauses(cursor, operands=self.expressions)}

    def _touched(self, cursor: Cursor) -> Fields:
        return self._clauses(cursor, reads=Cursor.names, writes=Cursor.names)

    def _integers(self, cursor: Cursor) -> tuple[int, ...]:
        return () if cursor.peek().text == ")" else self.listed(cursor, Cursor.integer)


def _one_of(kinds: type[Choice]) -> Callable[[Cursor], Choice]:
    """A reader of a word that is the value of a member of `kinds`."""
    return lambda cursor: cursor.choice(kinds)


def _is_via(cursor: Cursor) -> bool:
    """Whether the clause `via "..."` follows: a list of names would have a comma before a text."""
    return cursor.peek().text == "via" and cursor.peek(1).kind == "string"
