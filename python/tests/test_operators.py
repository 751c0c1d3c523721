"""Every operator of torch against plain PyTorch, and torch's own checks of it."""

from __future__ import annotations

from typing import Any

import pytest
import samples
import torch
from samples import DIMS, DQ, LAYER, MAX_LEN, OFFSETS, SAMPLES, SAVED, STACK, TOTAL, K, Q, Sample, V, attention, rand
from torch import Tensor
from torch.utils._pytree import tree_leaves

from hstujit.enums import Recompute
from hstujit.torch import _fakes, ops, shapes


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
    pairs = list(zip(tree_leaves(results), tree_leaves(expected), strict=True))
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("softmax", [0, 1])
@pytest.mark.parametrize("recompute", [0, Recompute.UVQK, Recompute.NORMED_X | Recompute.Y])
@pytest.mark.parametrize("layers", [1, 2])
def test_what_a_stack_keeps_has_the_size_that_python_says(
    dtype: torch.dtype, softmax: int, recompute: int, layers: int
) -> None:
    weights = [[t.to(dtype) for t in list_[:layers]] for list_ in LAYER.values()]
    options: dict[str, Any] = {"num_softmax_heads": softmax, "recompute": recompute}
    for rows in (0, 1, TOTAL):
        x, offsets = rand(rows, 16, dtype=dtype), torch.tensor([0, rows])
        _, saved = ops.stack_with_saved(x, *weights, offsets, MAX_LEN, **STACK, **options)
        said = shapes.stack_saved_size(x, weights[0], **DIMS, **options)
        assert saved.numel() == said
        assert (said > 0) == (rows > 0)


def test_what_a_stack_keeps_may_be_moved() -> None:
    """Another address, and one that no library would choose."""
    given: dict[str, Any] = {**STACK, "needed": [True] * 15}
    expected = tree_leaves(ops.stack_backward(DQ.flatten(1), samples.X, SAVED, *LAYER.values(), OFFSETS, MAX_LEN, **given))
    for shift in (1, 64, 100):
        moved = torch.empty(SAVED.numel() + shift, dtype=torch.uint8)[shift:].copy_(SAVED)
        found = tree_leaves(ops.stack_backward(DQ.flatten(1), samples.X, moved, *LAYER.values(), OFFSETS, MAX_LEN, **given))
        assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("saved", "needed", "complaint"),
    [
        (SAVED[:-1], [True] * 15, r"saved_size = \d+: \d+ bytes are needed"),
        (SAVED.float(), [True] * 15, "saved: bytes without gaps are needed"),
        (SAVED.repeat_interleave(2)[::2], [True] * 15, "saved: bytes without gaps are needed"),
        (SAVED, [True] * 14, "needed has 14 values: this call reads value 14"),
    ],
)
def test_a_stack_s_gradient_refuses_what_its_forward_did_not_leave(saved: Tensor, needed: list[bool], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ops.stack_backward(DQ.flatten(1), samples.X, saved, *LAYER.values(), OFFSETS, MAX_LEN, **STACK, needed=needed)


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
