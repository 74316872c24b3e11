"""Outputs as formulas, and what answers what."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import Match, OutputMatch
from portcheck.core.report import OutputRow
from portcheck.rules import Pair
from portcheck.values import Contract, Piece, condition_text, coordinate_names, term_text
from portcheck.values.equality import Outcome
from portcheck.values.renaming import replaced_names


def output_rows(pair: Pair) -> tuple[OutputRow, ...]:
    """One row an output of the original."""
    return tuple(_row(output) for output in pair.alignment.outputs)


def _row(output: OutputMatch) -> OutputRow:
    status = "missing" if output.equality.outcome is Outcome.MISSING else output.equality.outcome.value
    return OutputRow(
        name=output.cuda,
        counterpart=output.nki or "",
        status=status,
        cuda=_formulas(output.cuda_contract),
        nki=_formulas(output.nki_contract) if output.nki_contract else "",
        cuda_domain=_domains(output.cuda_contract),
        nki_domain=_domains(output.nki_contract) if output.nki_contract else "",
        reason=output.equality.reason,
    )


def _formulas(contract: Contract) -> str:
    lines = list(dict.fromkeys(_formula(contract.output, piece) for piece in contract.pieces))
    if contract.problem:
        lines.append(f"not summarised: {contract.problem}")
    return "\n".join(lines)


def _formula(output: str, piece: Piece) -> str:
    names = coordinate_names(piece.bounds, piece.address.symbols)
    return f"{output}[{replaced_names(piece.address, names)}] = {term_text(piece.value, names)}"


def _domains(contract: Contract) -> str:
    return "; ".join(_domain(piece) for piece in contract.pieces)


def _domain(piece: Piece) -> str:
    names = coordinate_names(piece.bounds, piece.address.symbols)
    limits = [f"0 <= {names[bound.variable]} < {replaced_names(bound.stop, names)}" for bound in piece.bounds]
    return ", ".join([*limits, *(condition_text(condition, names) for condition in piece.conditions)])


def alignment_lines(pair: Pair) -> tuple[str, ...]:
    """What was taken to answer what, with the evidence."""
    return tuple(_lines(pair))


def _evidence(match: Match, pair: Pair) -> str:
    """Why a parameter was taken to answer another; a size that a shape answers needs no parameter."""
    by_shape = [name for name, size in pair.alignment.names.sizes.items() if str(size) == match.cuda]
    if match.nki is None and not by_shape and match.cuda in _port_sizes(pair):
        by_shape = [match.cuda]
    if match.nki is None and by_shape:
        return f"answered by the size {min(by_shape, key=len)}"
    return match.evidence


def _port_sizes(pair: Pair) -> frozenset[str]:
    """The sizes that the port's outputs run over."""
    bounds = (bound for contract in pair.port.contracts for piece in contract.pieces for bound in piece.bounds)
    return frozenset().union(*(bound.stop.symbols for bound in bounds))


def _lines(pair: Pair) -> Iterator[str]:
    pairing = pair.pairing
    if pairing.cuda and pairing.nki:
        yield f"kernel {pairing.cuda} <-> {pairing.nki}: {pairing.evidence}"
    for match in (*pair.alignment.inputs, *pair.alignment.scalars):
        yield f"{match.cuda} <-> {match.nki or 'nothing'}: {_evidence(match, pair)}"
    for output in pair.alignment.outputs:
        yield f"{output.cuda} <-> {output.nki or 'nothing'} (output): {output.evidence}"
    for name, size in sorted(pair.alignment.names.sizes.items()):
        if name != str(size):
            yield f"size {size} <-> {name}: same extent or stride"
    for extra in pair.alignment.extra_outputs:
        yield f"nothing <-> {extra} (output): only in the port"
