"""Label counts: one class per partition, input streamed in chunks."""
import nki
import nki.isa as nisa
import nki.language as nl

P = 128
CHUNK = 2048


@nki.jit
def count_labels(labels, classes):
    n = labels.shape[0]
    counts = nl.ndarray((classes, 1), dtype=nl.int32, buffer=nl.shared_hbm)

    for k0 in range(0, classes, P):
        kp = min(P, classes - k0)
        ids = nl.ndarray((kp, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.iota(dst=ids, pattern=[[1, 1]], offset=k0, channel_multiplier=1)
        for s in range(0, n, CHUNK):
            w = min(CHUNK, n - s)
            lab = nl.ndarray((kp, w), dtype=nl.uint16, buffer=nl.sbuf)
            nisa.dma_copy(dst=lab, src=labels[s:s + w].reshape((1, w)).broadcast(0, kp))
            same = nl.ndarray((kp, w), dtype=nl.uint8, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=same, data=lab, op0=nl.equal, operand0=ids)
            part = nl.ndarray((kp, 1), dtype=nl.int32, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=part, op=nl.add, data=same, axis=1)
            nisa.dma_copy(dst=counts[k0:k0 + kp, 0:1], src=part)
    return counts
