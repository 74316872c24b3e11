"""Bank-conflict tricks: padding and swizzles of shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.passes import Padding
from portcheck.rules._base import Draft, Example, Pair, rule

_TRANSPOSE = """#define TILE 32
__global__ void flip(const float* in, float* out, int w, int h) {{
  __shared__ float tile[TILE][{extent}];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  if (x < w && y < h) tile[threadIdx.y][{store}] = in[y * w + x];
  __syncthreads();
  int tx = blockIdx.y * TILE + threadIdx.x;
  int ty = blockIdx.x * TILE + threadIdx.y;
  if (tx < h && ty < w) out[ty * h + tx] = tile[threadIdx.x][{load}];
}}
"""
_PLAIN = _TRANSPOSE.format(extent="TILE", store="threadIdx.x", load="threadIdx.y")
_PADDED = _TRANSPOSE.format(extent="TILE + 1", store="threadIdx.x", load="threadIdx.y")
_SWIZZLED = _TRANSPOSE.format(extent="TILE", store="threadIdx.x ^ threadIdx.y", load="threadIdx.y ^ threadIdx.x")
_PORT = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def flip(src):
    h, w = src.shape
    out = nl.ndarray((w, h), dtype=src.dtype, buffer=nl.shared_hbm)
    ip = nl.arange(32)[:, None]
    jf = nl.arange(32)[None, :]
    for r in nl.affine_range((h + 31) // 32):
        for c in nl.affine_range((w + 31) // 32):
            part = nl.ndarray((32, {extent}), dtype=src.dtype, buffer=nl.sbuf)
            part[ip, {index}] = nl.load(src[r * 32 + ip, c * 32 + jf], mask=(r * 32 + ip < h) & (c * 32 + jf < w))
            turned = nl.transpose(part[ip, jf])
            nl.store(out[c * 32 + ip, r * 32 + jf], value=turned, mask=(c * 32 + ip < w) & (r * 32 + jf < h))
    return out
"""
_PLAIN_PORT = _PORT.format(extent="32", index="jf")
_PADDED_PORT = _PORT.format(extent="32 + 1", index="jf")
_SWIZZLED_PORT = _PORT.format(extent="32", index="jf ^ ip")

_BANKS = "SBUF has no banks that conflict (Trainium architecture guide, memory hierarchy)"


@rule(
    "PC120",
    "bank-padding-carried",
    Severity.PERF,
    Certainty.CERTAIN,
    documentation="""
The original pads rows of shared memory so that a column falls into different banks. SBUF has no such banks, so the
extra elements of the tile only cost memory and, because rows are no longer contiguous, make accesses strided.

**How to fix.** Give the tile its real extent.

**How we know.** The tile's extent is written as size plus a few elements that no access reaches, as in the original.
""",
    examples=(
        Example(title="padding left out", cuda=_PADDED, nki=_PLAIN_PORT, hit=False),
        Example(title="padding copied into the tile", cuda=_PADDED, nki=_PADDED_PORT, hit=True),
    ),
)
def bank_padding_carried(pair: Pair) -> Iterator[Draft]:
    """Padding against bank conflicts was copied into a tile, where it has no use."""
    if not pair.cuda.paddings:
        return
    for padding in pair.nki.paddings:
        yield Draft(
            message=f"Tile `{padding.alloc.name}` carries {_elements(padding)} of padding in dimension "
            f"{padding.dimension}, as `{pair.cuda.paddings[0].alloc.name}` does against bank conflicts; "
            "SBUF has none to avoid.",
            remedy="Give the tile its real extent.",
            cuda=pair.cuda.paddings[0].alloc.span,
            nki=padding.alloc.span,
            because=(_BANKS,),
        )


def _elements(padding: Padding) -> str:
    return "one element" if padding.padding == 1 else f"{padding.padding} elements"


@rule(
    "PC121",
    "bank-swizzle-carried",
    Severity.ERROR,
    Certainty.LIKELY,
    documentation="""
The original permutes an index with an exclusive or, so that a column falls into different banks, and undoes the
permutation when it reads. In a tile the same index permutes the data itself: instructions read rows in order, so
elements end up in other places.

**How to fix.** Index the tile plainly.

**How we know.** An index into an on-chip tile holds an exclusive or of axes, as in the original. Likely, not certain:
the permutation may be undone in a way that was not followed.
""",
    examples=(
        Example(title="swizzle left out", cuda=_SWIZZLED, nki=_PLAIN_PORT, hit=False),
        Example(title="swizzle copied into the tile", cuda=_SWIZZLED, nki=_SWIZZLED_PORT, hit=True),
    ),
)
def bank_swizzle_carried(pair: Pair) -> Iterator[Draft]:
    """An index permuted by exclusive or was copied into a tile, where it moves data."""
    if not pair.cuda.swizzles:
        return
    outputs = tuple(output.cuda for output in pair.alignment.outputs)
    seen: set[str] = set()
    for swizzle in pair.nki.swizzles:
        if swizzle.buffer in seen:
            continue
        seen.add(swizzle.buffer)
        yield Draft(
            message=f"Tile `{swizzle.buffer}` is indexed through an exclusive or, as `{pair.cuda.swizzles[0].buffer}` "
            "is against bank conflicts; in a tile this moves the elements themselves.",
            remedy="Index the tile without the exclusive or.",
            cuda=pair.cuda.swizzles[0].op.span,
            nki=swizzle.op.span,
            because=(_BANKS,),
            outputs=outputs,
        )


@rule(
    "PC122",
    "bank-trick-dropped",
    Severity.NOTE,
    Certainty.CERTAIN,
    documentation="""
The original pads or swizzles shared memory against bank conflicts and the port does not. That is right: SBUF has no
counterpart of banks. Stated so that the reviewer need not ask. One note a pair.

**How we know.** No tile of the port has an extent or index of that form.
""",
    examples=(
        Example(title="no trick in the original", cuda=_PLAIN, nki=_PLAIN_PORT, hit=False),
        Example(title="padding carried", cuda=_PADDED, nki=_PADDED_PORT, hit=False),
        Example(title="padding left out", cuda=_PADDED, nki=_PLAIN_PORT, hit=True),
    ),
)
def bank_trick_dropped(pair: Pair) -> Iterator[Draft]:
    """Padding or swizzling against bank conflicts was left out; nothing replaces it and nothing needs to."""
    tricks = [(padding.alloc.name, "padding", padding.alloc.span) for padding in pair.cuda.paddings]
    tricks += [(swizzle.buffer, "swizzle", swizzle.op.span) for swizzle in pair.cuda.swizzles]
    if not tricks or pair.nki.paddings or pair.nki.swizzles:
        return
    names = ", ".join(dict.fromkeys(f"{kind} of `{name}`" for name, kind, _ in tricks))
    yield Draft(
        message=f"The {names} is left out: correct, on-chip memory of NeuronCores has no bank conflicts to avoid.",
        remedy="Nothing to do.",
        cuda=tricks[0][2],
        because=(_BANKS,),
    )
