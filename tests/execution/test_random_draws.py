"""Random numbers are drawn from a stream of the run's own, which an event says, and never without being asked for."""

import numpy as np
import pytest
from tests.execution.running import executed, lowered

from portcheck.execution import EventKind, Geometry, Options, Uninitialised, run
from portcheck.execution.simt.draws import philox

MASK = 0xFFFFFFFF
N = 4096

DRAWN = """
__global__ void k(%s* y, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState s;
  curand_init(seed, i, 0, &s);
  y[i] = %s;
}
"""


def philox_of(counter: tuple[int, ...], key: tuple[int, int]) -> list[int]:
    """Philox4x32-10 with Python's integers, after the paper."""
    words, keys = list(counter), list(key)
    for number in range(10):
        if number:
            keys = [(keys[0] + 0x9E3779B9) & MASK, (keys[1] + 0xBB67AE85) & MASK]
        left, right = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [(right >> 32) ^ words[1] ^ keys[0], right & MASK, (left >> 32) ^ words[3] ^ keys[1], left & MASK]
    return words


def word(run_seed: int, seed: int, sequence: int, place: int) -> int:
    mixed = run_seed ^ seed
    counter = (place // 4, 0, sequence & MASK, sequence >> 32)
    return philox_of(counter, (mixed & MASK, mixed >> 32))[place % 4]


def drawn(body: str, dtype: type = np.uint32, ctype: str = "unsigned", seed: int = 5, **options: object) -> np.ndarray:
    arguments = {"y": Uninitialised((N,)), "seed": seed}
    done = executed(DRAWN % (ctype, body), arguments, N // 256, 256, **options)
    assert not done.faults
    assert {event.kind for event in done.events} == {EventKind.ASSUMED}
    assert done.arrays["y"].dtype == dtype
    return done.arrays["y"]


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((MASK,) * 4, (MASK,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)  # fmt: skip
def test_philox_gives_the_published_answers(
    counter: tuple[int, ...], key: tuple[int, int], expected: tuple[int, ...]
) -> None:
    wide = [np.array([part], np.uint64) for part in (*counter, *key)]
    found = philox(tuple(wide[:4]), (wide[4], wide[5]))
    assert tuple(int(part[0]) for part in found) == expected


def test_each_sequence_has_its_own_numbers_one_after_the_other() -> None:
    seed = 0x1234567890ABCDEF
    twice = drawn("curand(&s) ^ curand(&s)", seed=seed, draws=77)
    assert twice.tolist() == [word(77, seed, i, 0) ^ word(77, seed, i, 1) for i in range(N)]


def test_offsets_and_skips_go_on_in_the_same_sequence() -> None:
    text = DRAWN.replace(", i, 0, &s);", ", 3, i, &s); skipahead(2, &s);") % ("unsigned", "curand(&s)")
    done = executed(text, {"y": Uninitialised((N,)), "seed": 9}, N // 256, 256, draws=1)
    assert done.arrays["y"].tolist() == [word(1, 9, 3, i + 2) for i in range(N)]


def test_states_are_kept_in_arrays_from_kernel_to_kernel_and_copied_like_numbers() -> None:
    text = """
    __global__ void setup(curandStatePhilox4_32_10_t* states, int n) {
      int i = threadIdx.x;
      if (i < n) curand_init(42, i, 0, &states[i]);
    }
    __global__ void draw(curandStatePhilox4_32_10_t* states, uint4* y, int n) {
      int i = threadIdx.x;
      if (i >= n) return;
      curandStatePhilox4_32_10_t mine = states[i], copy = mine;
      uint4 first = curand4(&mine);
      y[2 * i] = first;
      first.x = curand(&copy);
      first.y = curand(&mine);
      y[2 * i + 1] = first;
      if (i % 2) states[i] = mine;
    }"""
    program = lowered(text)
    arguments = {"states": Uninitialised((50,)), "y": np.zeros(50 * 8, np.uint32), "n": 50}
    geometry = {"setup": Geometry.of(1, 64), "draw": Geometry.of(1, 64)}
    done = run(program, arguments, geometry, Options(draws=8))
    assert not done.faults
    found = done.arrays["y"].reshape(50, 8).tolist()
    for i, row in enumerate(found):
        four = [word(8, 42, i, place) for place in range(4)]
        assert row == [*four, four[0], word(8, 42, i, 4), *four[2:]]
    kept = done.arrays["states"] & np.uint64(MASK)
    assert kept.tolist() == [5 if i % 2 else 0 for i in range(50)]


def test_uniform_numbers_are_above_zero_and_at_most_one() -> None:
    single = drawn("curand_uniform(&s)", np.float32, "float", draws=3)
    words = np.array([word(3, 5, i, 0) for i in range(N)], np.float64)
    assert np.array_equal(single, ((words + 1) / 2**32).astype(np.float32))
    double = drawn("curand_uniform_double(&s)", np.float64, "double", draws=3)
    more = np.array([word(3, 5, i, 1) >> 12 for i in range(N)], np.float64)
    assert np.array_equal(double, (words * 2**20 + more + 1) / 2**52)


def test_normal_numbers_have_the_moments_of_their_distribution() -> None:
    for body, dtype, ctype in (
        ("curand_normal(&s)", np.float32, "float"), ("curand_normal_double(&s)", np.float64, "double")
    ):  # fmt: skip
        found = drawn(body, dtype, ctype, draws=1).astype(np.float64)
        assert abs(found.mean()) < 5 / N**0.5  # five standard errors
        assert abs(found.var() - 1) < 5 * (2 / N) ** 0.5
        assert abs((found**3).mean()) < 5 * (15 / N) ** 0.5
        assert (np.abs(found) < 1).mean() == pytest.approx(0.6827, abs=5 * (0.25 / N) ** 0.5)


def test_another_seed_of_the_run_gives_other_numbers_and_the_same_one_the_same() -> None:
    first, again, other = (drawn("curand(&s)", draws=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not (first == other).any()


def test_without_a_seed_of_the_run_a_kernel_that_draws_ends_there() -> None:
    done = executed(DRAWN % ("unsigned", "curand(&s)"), {"y": Uninitialised((N,)), "seed": 5}, 16, 256)
    assert done.stopped is not None
    assert done.stopped.kind is EventKind.NOT_EXECUTED
    assert "Options.draws" in done.stopped.message


def test_what_is_drawn_otherwise_ends_the_run() -> None:
    done = executed(
        DRAWN % ("unsigned", "curand_poisson(&s, 4.0)"), {"y": Uninitialised((N,)), "seed": 5}, 16, 256, draws=1
    )
    assert done.stopped is not None
    assert "curand_poisson are not executed" in done.stopped.message


def test_a_draw_from_a_state_that_nothing_set_up_is_found() -> None:
    text = DRAWN.replace("curand_init(seed, i, 0, &s);", "if (i != 7) curand_init(seed, i, 0, &s);")
    done = executed(text % ("unsigned", "curand(&s)"), {"y": Uninitialised((N,)), "seed": 5}, 16, 256, draws=1)
    assert [(event.kind, event.thread, event.count) for event in done.faults] == [
        (EventKind.UNINITIALISED_READ, (7, 0, 0), 1)
    ]
