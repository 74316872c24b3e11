"""Which kernels of two files are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from portcheck.align.kernels import Pairing, Signature, choose
from portcheck.core.errors import InputError, did_you_mean
from portcheck.core.source import SourceFile
from portcheck.frontends.reading import KernelSignature
from portcheck.pipeline.request import Request


def choose_kernels(
    request: Request,
    sources: Mapping[str, SourceFile],
    cuda: Sequence[KernelSignature],
    nki: Sequence[KernelSignature],
    chain: Callable[[], tuple[str, ...]] = tuple,
) -> tuple[tuple[str, ...], str | None, Pairing]:
    """The original's kernels in launch order, the port's kernel (None: it has none), and why.

    `chain` gives all kernels of the original, if they are one. Raises InputError for a kernel that is not there and
    where no choice can be defended.
    """
    if not cuda:
        raise InputError(
            f"{request.cuda_path} holds no CUDA kernel",
            hint="give the file that defines the __global__ function",
            path=request.cuda_path,
        )
    for name in request.cuda_kernels:
        _require(name, cuda, request.cuda_path)
    if request.nki_kernel is not None:
        _require(request.nki_kernel, nki, request.nki_path)
    asked = {without_arguments(name) for name in request.cuda_kernels}
    left = [kernel for kernel in cuda if not asked or kernel.name in asked]
    right = [kernel for kernel in nki if request.nki_kernel in (None, kernel.name)]
    if not right:
        names = request.cuda_kernels or (left[0].name,)
        return names, None, Pairing(names[0], None, "the port holds no kernel", is_weak=False)
    if request.cuda_kernels and len(right) == 1:
        evidence = "named by the user" if request.nki_kernel else "named by the user, the only kernel of the port"
        return request.cuda_kernels, right[0].name, Pairing(request.cuda_kernels[0], right[0].name, evidence, False)
    together = chain() if len(right) == 1 and not request.cuda_kernels else ()
    if together:
        evidence = "all kernels of the original, launched one after the other; the only kernel of the port"
        return together, right[0].name, Pairing(together[0], right[0].name, evidence, is_weak=False)
    pairing = choose([_signature(kernel) for kernel in left], [_signature(kernel) for kernel in right])
    if pairing.cuda is None or pairing.nki is None:
        raise _undecided(request, sources, left, right)
    return request.cuda_kernels or (pairing.cuda,), pairing.nki, pairing


def without_arguments(name: str) -> str:
    """The name of a kernel without the template arguments that tell its instances apart."""
    return name.partition("<")[0].strip()


def _signature(kernel: KernelSignature) -> Signature:
    return Signature(kernel.name, kernel.parameters)


def _require(name: str, kernels: Sequence[KernelSignature], path: str) -> None:
    names = [kernel.name for kernel in kernels]
    if without_arguments(name) in names:
        return
    listed = ", ".join(names) or "none"
    hint = did_you_mean(name, names) or f"portcheck list kernels {path}"
    raise InputError(f"{path} has no kernel called {name}; it has {listed}", hint=hint, path=path)


def _undecided(
    request: Request,
    sources: Mapping[str, SourceFile],
    cuda: Sequence[KernelSignature],
    nki: Sequence[KernelSignature],
) -> InputError:
    sides = [(request.cuda_path, cuda, "--cuda-kernel"), (request.nki_path, nki, "--nki-kernel")]
    many = [(path, kernels, option) for path, kernels, option in sides if len(kernels) > 1]
    listed = "; ".join(f"{path} has {', '.join(kernel.name for kernel in kernels)}" for path, kernels, _ in many)
    options = " and ".join(f"{option} NAME" for _, _, option in many)
    path, kernels, _ = many[0]
    start = kernels[0].span.start
    return InputError(
        f"several kernels could be meant: {listed}",
        hint=f"choose with {options}",
        path=path,
        line=start.line,
        column=start.column,
        excerpt=sources[path].lines[start.line - 1],
    )
