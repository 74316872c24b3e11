"""The classes of NKI whose objects are tensors, and what such an object has."""

from __future__ import annotations

from functools import lru_cache

from portcheck.knowledge import Knowledge, Semantics


def is_tensor_class(owner: str) -> bool:
    """Whether `owner` is the name of a class of tensors."""
    return owner.lower().endswith("tensor")


@lru_cache(maxsize=4)
def tensor_class(knowledge: Knowledge, root: str) -> str:
    """The class of the tensors of a package, by its qualified name."""
    types = (name for name, api in knowledge.apis.items() if api.latest.semantics is Semantics.TYPE)
    found = (name for name in types if name.startswith(f"{root}.") and is_tensor_class(name.rpartition(".")[2]))
    return max(found, key=lambda name: sum(other.startswith(f"{name}.") for other in knowledge.apis), default="")


@lru_cache(maxsize=4)
def tensor_attributes(knowledge: Knowledge, root: str) -> frozenset[str]:
    """The names that tensors of a package have."""
    return knowledge.members(tensor_class(knowledge, root))
