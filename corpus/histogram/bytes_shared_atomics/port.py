"""256-bin byte histogram without atomics.

Bin b lives on partition b % 128, column b // 128. Every chunk of the input is replicated over
the partitions, compared with the partition's bin number, and the matches are counted along the
free axis. Counts are added as int32 on GpSimd, so no total passes through float32.
"""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128
GROUPS = 2
CHUNK = 4096


@nki.jit
def byte_histogram(data):
    n = data.shape[0]
    hist = nl.ndarray((P * GROUPS,), dtype=nl.int32, buffer=nl.shared_hbm)

    bins = nl.ndarray((P, GROUPS), dtype=nl.float32, buffer=nl.sbuf)
    nisa.iota(dst=bins, pattern=[[P, GROUPS]], offset=0, channel_multiplier=1)
    totals = nl.ndarray((P, GROUPS), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=totals, value=0)

    for s in range(0, n, CHUNK):
        w = min(CHUNK, n - s)
        keys = nl.ndarray((P, w), dtype=nl.uint8, buffer=nl.sbuf)
        nisa.dma_copy(dst=keys, src=data[s:s + w].reshape((1, w)).broadcast(0, P))
        for g in range(GROUPS):
            hit = nl.ndarray((P, w), dtype=nl.uint8, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=hit, data=keys, op0=nl.equal, operand0=bins[0:P, g:g + 1])
            found = nl.ndarray((P, 1), dtype=nl.int32, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=found, op=nl.add, data=hit, axis=1)
            nisa.tensor_tensor(dst=totals[0:P, g:g + 1], data1=totals[0:P, g:g + 1], data2=found,
                               op=nl.add, engine=nisa.engine.gpsimd)

    for g in range(GROUPS):
        nisa.dma_copy(dst=hist[g * P:(g + 1) * P].reshape((P, 1)), src=totals[0:P, g:g + 1])
    return hist
