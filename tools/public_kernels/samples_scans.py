"""cuda-samples: scans, histograms and sorting networks, all over integers."""

from __future__ import annotations

import numpy as np
from tools.public_kernels.case import Array, Case, Run, blocks_for
from tools.public_kernels.inputs import integers, untouched

_UINT = np.uint32


def unsigned(random: np.random.Generator, *shape: int) -> Array:
    return integers(random, 0, 2**32, *shape, dtype=_UINT)


def exclusive(values: Array) -> Array:
    """Running sums along the last axis without the element itself, modulo 2^32."""
    return (np.cumsum(values, -1, dtype=_UINT) - values).astype(_UINT)


def scan_shared(random: np.random.Generator, count: int, length: int) -> Run:
    data = unsigned(random, count)
    result = exclusive(data.reshape(-1, length)).reshape(-1)
    return Run(
        grid=(count // 1024,), block=(256,), reference=lambda arithmetic: {"d_Dst": result},
        arguments={"d_Dst": untouched(count, dtype=_UINT), "d_Src": data, "size": length},
    )  # fmt: skip


def scan_tops(random: np.random.Generator, count: int, length: int) -> Run:
    """Exclusive scan of the sums of 1024 elements, `length` of them together."""
    data = unsigned(random, count * 1024)
    scanned = exclusive(data.reshape(-1, 1024))
    sums = np.zeros(blocks_for(count, 256) * 256, _UINT)
    sums[:count] = data.reshape(-1, 1024).sum(-1, dtype=_UINT)
    result = exclusive(sums.reshape(-1, length)).reshape(-1)[:count]
    return Run(
        grid=(blocks_for(count, 256),), block=(256,), reference=lambda arithmetic: {"d_Buf": result},
        arguments={
            "d_Buf": untouched(count, dtype=_UINT), "d_Dst": scanned, "d_Src": data, "N": count, "arrayLength": length,
        },
    )  # fmt: skip


def uniform_update(random: np.random.Generator, blocks: int) -> Run:
    data, added = unsigned(random, blocks * 1024), unsigned(random, blocks)
    result = (data.reshape(blocks, -1) + added[:, None]).astype(_UINT)
    return Run(
        grid=(blocks,), block=(256,), reference=lambda arithmetic: {"d_Data": result},
        arguments={"d_Data": data, "d_Buffer": added},
    )  # fmt: skip


def shuffle_scan(random: np.random.Generator, blocks: int, block: int) -> Run:
    data = integers(random, -(2**31), 2**31, blocks * block)
    result = np.cumsum(data.reshape(blocks, block), -1, dtype=np.int32)
    return Run(
        grid=(blocks,), block=(block,), shared_bytes=4 * (block // 32),
        reference=lambda arithmetic: {"data": result, "partial_sums": result[:, -1].copy()},
        arguments={"data": data, "width": 32, "partial_sums": untouched(blocks, dtype=np.int32)},
    )  # fmt: skip


def uniform_add(random: np.random.Generator, blocks: int, block: int, length: int) -> Run:
    """Adds up to and with the element `length`, as the guard is written."""
    data, added = integers(random, -1000, 1000, blocks * block), integers(random, -1000, 1000, blocks)
    reached = np.arange(blocks * block) <= length
    result = np.where(reached, data + np.repeat(added, block), data).astype(np.int32)
    return Run(
        grid=(blocks,), block=(block,), reference=lambda arithmetic: {"data": result},
        arguments={"data": data, "partial_sums": added, "len": length},
    )  # fmt: skip


def image_rows(random: np.random.Generator, rows: int) -> Run:
    """Running sums of the bytes of rows of 1920."""
    image = integers(random, 0, 256, rows, 1920, dtype=np.uint8)
    result = np.cumsum(image, -1, dtype=_UINT)
    return Run(
        grid=(rows,), block=(120,), reference=lambda arithmetic: {"integral_image": result},
        arguments={"img": image.view(_UINT).copy(), "integral_image": untouched(rows, 1920, dtype=_UINT)},
    )  # fmt: skip


def image_columns(random: np.random.Generator, width: int) -> Run:
    image = integers(random, 0, 2**20, 1080, width, dtype=_UINT)
    result = np.cumsum(image, 0, dtype=_UINT)
    return Run(
        grid=(width // 32,), block=(32, 8), reference=lambda arithmetic: {"img": result},
        arguments={"img": image, "width": width, "height": 1080},
    )  # fmt: skip


def histogram64(random: np.random.Generator, grid: int, count: int) -> Run:
    """Partial histograms of the upper six bits of bytes; a block of 64 strides over vectors of 16."""
    data = integers(random, 0, 256, count, 16, dtype=np.uint8)
    result = np.zeros((grid, 64), _UINT)
    for position in range(count):
        np.add.at(result[position // 64 % grid], data[position] >> 2, 1)
    return Run(
        grid=(grid,),
        block=(64,),
        reference=lambda arithmetic: {"d_PartialHistograms": result},
        arguments={
            "d_PartialHistograms": untouched(grid, 64, dtype=_UINT),
            "d_Data": data.view(_UINT).copy(),
            "dataCount": count,
        },
    )


def histogram256(random: np.random.Generator, grid: int, count: int) -> Run:
    data = integers(random, 0, 256, count, 4, dtype=np.uint8)
    result = np.zeros((grid, 256), _UINT)
    for position in range(count):
        np.add.at(result[position // 192 % grid], data[position], 1)
    return Run(
        grid=(grid,),
        block=(192,),
        reference=lambda arithmetic: {"d_PartialHistograms": result},
        arguments={
            "d_PartialHistograms": untouched(grid, 256, dtype=_UINT),
            "d_Data": data.view(_UINT).copy(),
            "dataCount": count,
        },
    )


def merged_histogram(random: np.random.Generator, bins: int, count: int) -> Run:
    parts = unsigned(random, count, bins)
    result = parts.sum(0, dtype=_UINT)
    return Run(
        grid=(bins,), block=(256,), reference=lambda arithmetic: {"d_Histogram": result},
        arguments={"d_Histogram": untouched(bins, dtype=_UINT), "d_PartialHistograms": parts, "histogramCount": count},
    )  # fmt: skip


def sort_shared(
    random: np.random.Generator,
    blocks: int,
    length: int,
    ascending: int,
    alternates: bool = False,
    stable: bool = False,
) -> Run:
    """Sorts every `length` keys of blocks of 1024 with their values; equal keys only where the sort is stable."""
    count = blocks * 1024
    keys = integers(random, 0, 50, count, dtype=_UINT) if stable else random.permutation(count).astype(_UINT)
    values = np.arange(count, dtype=_UINT)
    parts = keys.reshape(-1, length)
    order = np.argsort(parts if ascending or alternates else np.uint32(2**31) - parts, axis=-1, kind="stable")
    if alternates:
        order[0::2] = order[0::2, ::-1]
    sorted_keys = np.take_along_axis(parts, order, -1).reshape(-1)
    sorted_values = np.take_along_axis(values.reshape(-1, length), order, -1).reshape(-1)
    options = {} if alternates else {"arrayLength": length} if stable else {"arrayLength": length, "dir": ascending}
    return Run(
        grid=(blocks,), block=(512,), reference=lambda arithmetic: {"d_DstKey": sorted_keys, "d_DstVal": sorted_values},
        arguments={
            "d_DstKey": untouched(count, dtype=_UINT), "d_DstVal": untouched(count, dtype=_UINT), "d_SrcKey": keys,
            "d_SrcVal": values, **options,
        },
    )  # fmt: skip


def merge_step(random: np.random.Generator, length: int, size: int, stride: int, ascending: int, odd_even: bool) -> Run:
    """One step of a network over whole arrays: pairs `stride` apart are put in order."""
    keys = random.permutation(length).astype(_UINT)
    values = unsigned(random, length)
    new_keys, new_values = keys.copy(), values.copy()
    for low, high, upwards in pairs(length, size, stride, odd_even):
        if (keys[low] > keys[high]) == (bool(ascending) ^ (not upwards)):
            new_keys[[low, high]], new_values[[low, high]] = keys[[high, low]], values[[high, low]]
    outputs = {"d_DstKey": keys.copy(), "d_DstVal": values.copy()}
    return Run(
        grid=(length // 512,),
        block=(256,),
        reference=lambda arithmetic: {"d_DstKey": new_keys, "d_DstVal": new_values},
        arguments={
            **outputs,
            "d_SrcKey": keys,
            "d_SrcVal": values,
            "arrayLength": length,
            "size": size,
            "stride": stride,
            "dir": ascending,
        },
    )


def pairs(length: int, size: int, stride: int, odd_even: bool) -> list[tuple[int, int, bool]]:
    """The comparators of a step: lower place, higher place, and whether it sorts in the direction asked for."""
    found = []
    for comparator in range(length // 2):
        position = 2 * comparator - comparator % stride
        if odd_even and stride < size // 2:
            if comparator % (size // 2) >= stride:
                found.append((position - stride, position, True))
            continue
        found.append((position, position + stride, odd_even or not comparator & (size // 2)))
    return found


def bitonic_merge(random: np.random.Generator, length: int, size: int, ascending: int) -> Run:
    """Merges bitonic runs of 1024: strides 512 down to 1."""
    keys, values = random.permutation(length).astype(_UINT), unsigned(random, length)
    new_keys, new_values = keys.copy(), values.copy()
    comparators = np.arange(length // 2)
    is_wanted = bool(ascending) ^ ((comparators & (size // 2)) != 0)
    for stride in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        position = comparators * 2 - comparators % stride
        swaps = (new_keys[position] > new_keys[position + stride]) == is_wanted
        low, high = position[swaps], position[swaps] + stride
        for array in (new_keys, new_values):
            array[low], array[high] = array[high].copy(), array[low].copy()
    return Run(
        grid=(length // 1024,),
        block=(512,),
        reference=lambda arithmetic: {"d_DstKey": new_keys, "d_DstVal": new_values},
        arguments={
            "d_DstKey": untouched(length, dtype=_UINT),
            "d_DstVal": untouched(length, dtype=_UINT),
            "d_SrcKey": keys,
            "d_SrcVal": values,
            "arrayLength": length,
            "size": size,
            "dir": ascending,
        },
    )


_TECHNIQUES = "2_Concepts_and_Techniques/"
_SCAN, _SHUFFLE = _TECHNIQUES + "scan/scan.cu", _TECHNIQUES + "shfl_scan/"
_HISTOGRAM, _NETWORK = _TECHNIQUES + "histogram/histogram", _TECHNIQUES + "sortingNetworks/"
_UNUSED_LANES = {
    "uninitialised-read": "the first warp reads 32 sums where there are fewer warps; it does not use the others"
}

CASES = (
    Case(
        file=_SCAN,
        kernel="scanExclusiveShared",
        build=scan_shared,
        sizes=({"count": 8192, "length": 1024}, {"count": 4096, "length": 64}),
    ),
    Case(
        file=_SCAN,
        kernel="scanExclusiveShared2",
        build=scan_tops,
        sizes=({"count": 1024, "length": 256}, {"count": 801, "length": 64}),
    ),
    Case(file=_SCAN, kernel="uniformUpdate", build=uniform_update, sizes=({"blocks": 5},)),
    Case(
        file=_SHUFFLE + "shfl_scan.cu",
        kernel="shfl_scan_test",
        build=shuffle_scan,
        sizes=({"blocks": 4, "block": 256}, {"blocks": 9, "block": 128}),
    ),
    Case(
        file=_SHUFFLE + "shfl_scan.cu",
        kernel="uniform_add",
        build=uniform_add,
        sizes=({"blocks": 4, "block": 256, "length": 1024}, {"blocks": 5, "block": 224, "length": 1001}),
    ),
    Case(
        file=_SHUFFLE + "shfl_integral_image.cuh",
        kernel="shfl_intimage_rows",
        build=image_rows,
        sizes=({"rows": 11},),
        explained=_UNUSED_LANES,
    ),
    Case(
        file=_SHUFFLE + "shfl_integral_image.cuh",
        kernel="shfl_vertical_shfl",
        build=image_columns,
        sizes=({"width": 128},),
    ),
    Case(
        file=_HISTOGRAM + "64.cu",
        kernel="histogram64Kernel",
        build=histogram64,
        sizes=({"grid": 16, "count": 2048}, {"grid": 17, "count": 1501}),
    ),
    Case(
        file=_HISTOGRAM + "64.cu",
        kernel="mergeHistogram64Kernel",
        build=merged_histogram,
        sizes=({"bins": 64, "count": 512}, {"bins": 64, "count": 37}),
    ),
    Case(
        file=_HISTOGRAM + "256.cu",
        kernel="histogram256Kernel",
        build=histogram256,
        sizes=({"grid": 6, "count": 2304}, {"grid": 7, "count": 1501}),
    ),
    Case(
        file=_HISTOGRAM + "256.cu",
        kernel="mergeHistogram256Kernel",
        build=merged_histogram,
        sizes=({"bins": 256, "count": 240},),
    ),
    Case(
        file=_NETWORK + "bitonicSort.cu",
        kernel="bitonicSortShared",
        build=sort_shared,
        sizes=({"blocks": 2, "length": 1024, "ascending": 1}, {"blocks": 3, "length": 64, "ascending": 0}),
    ),
    Case(
        file=_NETWORK + "bitonicSort.cu",
        kernel="bitonicSortShared1",
        build=sort_shared,
        sizes=({"blocks": 4, "length": 1024, "ascending": 1, "alternates": True},),
    ),
    Case(
        file=_NETWORK + "bitonicSort.cu",
        kernel="bitonicMergeGlobal",
        build=merge_step,
        sizes=(
            {"length": 4096, "size": 4096, "stride": 1024, "ascending": 1, "odd_even": False},
            {"length": 4096, "size": 2048, "stride": 1024, "ascending": 0, "odd_even": False},
        ),
    ),
    Case(
        file=_NETWORK + "bitonicSort.cu",
        kernel="bitonicMergeShared",
        build=bitonic_merge,
        sizes=({"length": 4096, "size": 2048, "ascending": 1},),
    ),
    Case(
        file=_NETWORK + "oddEvenMergeSort.cu",
        kernel="oddEvenMergeSortShared",
        build=sort_shared,
        sizes=({"blocks": 2, "length": 1024, "ascending": 1}, {"blocks": 3, "length": 64, "ascending": 0}),
    ),
    Case(
        file=_NETWORK + "oddEvenMergeSort.cu",
        kernel="oddEvenMergeGlobal",
        build=merge_step,
        sizes=(
            {"length": 4096, "size": 4096, "stride": 2048, "ascending": 1, "odd_even": True},
            {"length": 4096, "size": 4096, "stride": 16, "ascending": 1, "odd_even": True},
        ),
    ),
    Case(
        file="0_Introduction/mergeSort/mergeSort.cu",
        kernel="mergeSortSharedKernel",
        build=sort_shared,
        defines=(("sortDir", "1U"),),
        sizes=(
            {"blocks": 2, "length": 1024, "ascending": 1, "stable": True},
            {"blocks": 3, "length": 32, "ascending": 1, "stable": True},
        ),
    ),
)
