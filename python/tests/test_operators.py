"""Every operator of torch against plain PyTorch, and torch's own checks of it."""

from __future__ import annotations

from typing import Any

import pytest
import samples
import torch
from samples import DQ, MAX_LEN, OFFSETS, SAMPLES, TOTAL, K, Q, Sample, V, attention, rand
from torch import Tensor
from torch.utils._pytree import tree_leaves

from hstujit.torch import _fakes


def operator(sample: Sample) -> Any:
    return getattr(torch.ops.hstujit, sample.op).default


def copied(values: Any) -> Any:
    """Samples share tensors, and some operators write them."""
    if isinstance(values, Tensor):
        return values.clone(memory_format=torch.preserve_format) if values.numel() else values
    if isinstance(values, dict):
        return {name: copied(value) for name, value in values.items()}
    return type(values)(copied(value) for value in values) if isinstance(values, (tuple, list)) else values


def written(sample: Sample, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, ...]:
    """The arguments that the schema says are written and that were given."""
    out = []
    for at, argument in enumerate(operator(sample)._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[at] if at < len(args) else kwargs.get(argument.name)
            if value is not None:
                out.append(value)
    return tuple(out)


def error(found: Tensor, expected: Tensor) -> float:
    """Relative, in the Frobenius norm."""
    a, b = found.double(), expected.double()
    return float((a - b).norm() / b.norm().clamp(min=1e-30)) if b.numel() else 0.0


named = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.op} {s.name}".strip().replace(" ", "_"))


@named
def test_gives_what_plain_pytorch_gives(sample: Sample) -> None:
    args, kwargs = copied(sample.args), copied(sample.kwargs)
    results = operator(sample)(*args, **kwargs)
    if results is None:
        results = written(sample, args, kwargs)
    assert sample.expected
    expected = sample.expected()
    single = isinstance(results, Tensor)
    pairs = list(zip((results,) if single else results, (expected,) if single else expected, strict=True))
    assert pairs
    for found, wanted in pairs:
        if wanted is None:
            assert found.isfinite().all()
            continue
        assert found.shape == wanted.shape
        assert found.dtype == wanted.dtype
        assert error(found, wanted) <= sample.tolerance


@named
def test_passes_the_checks_of_torch(sample: Sample) -> None:
    checks = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    if any(t.dtype == samples.E4M3 for t in tree_leaves((sample.args, sample.kwargs)) if isinstance(t, Tensor)):
        checks = checks[1:]  # which cannot compare tensors in FP8 with what they were
    torch.library.opcheck(operator(sample), copied(sample.args), copied(sample.kwargs), test_utils=checks)


def test_every_operator_has_a_sample() -> None:
    assert {sample.op for sample in SAMPLES} == set(_fakes.KERNELS)


def test_takes_rows_of_one_buffer_where_they_lie() -> None:
    uvqk = rand(TOTAL, 64)
    q, k, v = (uvqk[:, at : at + 16].view(TOTAL, 2, 8) for at in (32, 48, 16))
    assert not q.is_contiguous()
    assert error(torch.ops.hstujit.attention(q, k, v, OFFSETS, MAX_LEN), attention(q, k, v)) < 2e-5


def test_takes_a_fully_expanded_tensor() -> None:
    x = torch.tensor(3.0).expand(4, 2)
    assert x.stride() == (0, 0)
    assert torch.equal(torch.ops.hstujit.addmm(x, torch.eye(2)), torch.full((4, 2), 3.0))


def test_results_are_the_same_in_each_run() -> None:
    def run() -> list[Tensor]:
        return list(
            torch.ops.hstujit.attention_backward(DQ, Q, K, V, OFFSETS, MAX_LEN, needed=[True, True, True, False, False])
        )

    assert all(torch.equal(a, b) for a, b in zip(run(), run(), strict=True))
