"""Gradients: against finite differences in f64, against plain PyTorch, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import samples
import torch
import torch.nn.functional as F
from samples import MAX_LEN, OFFSETS, TOTAL, rand
from torch import Tensor

import hstujit.torch as ht
from hstujit.enums import Mask
from hstujit.torch import autograd, schemas

F64 = torch.float64


def leaf(*shape: int, seed: int = 0) -> Tensor:
    return rand(*shape, seed=seed, dtype=F64).requires_grad_()


def qkv() -> tuple[Tensor, Tensor, Tensor]:
    return leaf(TOTAL, 2, 4), leaf(TOTAL, 2, 4, seed=1), leaf(TOTAL, 2, 4, seed=2)


def test_every_function_with_gradients_is_marked_in_the_table() -> None:
    assert {op.name for op in schemas.OPERATORS if op.gradient} == set(autograd.__all__)
    assert ht.layer_norm is autograd.layer_norm
    assert ht.attention is autograd.attention


def test_layer_norm_agrees_with_finite_differences() -> None:
    assert torch.autograd.gradcheck(ht.layer_norm, (leaf(5, 6), leaf(6), leaf(6, seed=1)))
    assert torch.autograd.gradcheck(ht.layer_norm, (leaf(5, 6),))


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_softmax_heads": 1},
        {"mask": Mask.LOCAL, "window_left": 1, "window_right": 1},
        {"num_targets": torch.tensor([1, 0, 2, 0]), "contextual_seq_len": 1, "target_group_size": 2},
    ],
    ids=["causal", "softmax heads", "local", "targets"],
)
def test_attention_agrees_with_finite_differences(options: dict[str, Any], padded: bool) -> None:
    def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ht.attention(q, k, v, OFFSETS, MAX_LEN, padded=padded, **options)

    assert torch.autograd.gradcheck(call, qkv())


def test_attention_has_gradients_of_its_bias() -> None:
    q, k, v = (t.detach() for t in qkv())
    rab = leaf(4, 1, MAX_LEN, MAX_LEN)
    assert torch.autograd.gradcheck(lambda rab: ht.attention(q, k, v, OFFSETS, MAX_LEN, rab=rab), (rab,))


def test_attention_has_gradients_of_its_scale() -> None:
    q, k, v = (t.detach() for t in qkv())
    scale = rand(TOTAL).requires_grad_()
    ht.attention(q, k, v, OFFSETS, MAX_LEN, attn_scale=scale).sum().backward()
    rows = ht.attention(q, k, v, OFFSETS, MAX_LEN, scaling_seqlen=1).sum((1, 2))
    assert scale.grad is not None
    assert torch.allclose(scale.grad.double(), rows, rtol=1e-5, atol=1e-5)


def test_gradients_reach_views_of_one_buffer() -> None:
    def parts(uvqk: Tensor) -> list[Tensor]:
        return [uvqk[:, at : at + 16].view(TOTAL, 2, 8) for at in (32, 48, 16)]

    ours, theirs = (rand(TOTAL, 64).requires_grad_() for _ in range(2))
    weight = rand(TOTAL, 2, 8, seed=4)
    (ht.attention(*parts(ours), OFFSETS, MAX_LEN) * weight).sum().backward()
    (samples.attention(*parts(theirs)) * weight).sum().backward()
    assert ours.grad is not None
    assert theirs.grad is not None
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-5)


def test_a_gradient_of_stride_0_is_taken() -> None:
    x = rand(4, 6).requires_grad_()
    ht.layer_norm(x, torch.ones(6), torch.zeros(6)).sum().backward()
    assert x.grad is not None
    assert x.grad.abs().max() < 1e-5


def test_gradients_of_16_bit_tensors_have_their_type() -> None:
    x, w, b = rand(4, 8).bfloat16().requires_grad_(), torch.ones(8).requires_grad_(), torch.zeros(8).requires_grad_()
    ht.layer_norm(x, w, b).float().pow(2).sum().backward()
    assert x.grad is not None
    assert w.grad is not None
    assert (x.grad.dtype, w.grad.dtype) == (torch.bfloat16, torch.float32)


def test_only_what_is_needed_is_computed() -> None:
    x, w, b = rand(4, 8), rand(8).requires_grad_(), rand(8)
    grad = torch.autograd.grad(ht.layer_norm(x, w, b).sum(), (w,))[0]
    wanted = torch.autograd.grad(F.layer_norm(x, (8,), w, b).sum(), (w,))[0]
    assert torch.allclose(grad, wanted, atol=1e-5)


def test_rows_behind_the_last_sequence_are_zero_when_padded() -> None:
    q, k, v = (torch.cat([t.detach(), torch.full((3, 2, 4), torch.nan, dtype=F64)]).requires_grad_() for t in qkv())
    out = ht.attention(q, k, v, OFFSETS, MAX_LEN, padded=True)
    assert torch.equal(out[TOTAL:], torch.zeros(3, 2, 4, dtype=F64))
    for gradient in torch.autograd.grad(out[:TOTAL].sum(), (q, k, v)):
        assert gradient[:TOTAL].isfinite().all()
        assert torch.equal(gradient[TOTAL:], torch.zeros(3, 2, 4, dtype=F64))
    with torch.no_grad():
        assert torch.equal(ht.attention(q, k, v, OFFSETS, MAX_LEN, padded=True), out)


def test_rows_that_are_not_valid_enter_no_gradient_of_weights() -> None:
    x, w, b = leaf(5, 6), leaf(6), leaf(6, seed=1)
    behind = torch.cat([x.detach(), torch.full((2, 6), torch.nan, dtype=F64)])
    out = ht.layer_norm(behind, w, b, valid_rows=torch.tensor([5]))
    found = torch.autograd.grad(out, (w, b), torch.ones_like(out))
    wanted = torch.autograd.grad(ht.layer_norm(x, w, b).sum(), (w, b))
    assert all(torch.allclose(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("which", ["layer_norm", "attention"])
def test_second_derivatives_are_refused(which: str) -> None:
    q, k, v = qkv()
    out = ht.layer_norm(q.flatten(1)) if which == "layer_norm" else ht.attention(q, k, v, OFFSETS, MAX_LEN)
    (first,) = torch.autograd.grad(out.pow(2).sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match=f"{which}: it has no second derivative"):
        first.sum().backward()


def test_forward_derivatives_are_refused() -> None:
    import torch.autograd.forward_ad as forward_ad

    with forward_ad.dual_level(), pytest.raises((RuntimeError, NotImplementedError), match=r"jvp|forward"):
        ht.layer_norm(forward_ad.make_dual(leaf(3, 4), rand(3, 4, dtype=F64)))


def test_checkpointing_gives_the_same_gradients() -> None:
    from torch.utils.checkpoint import checkpoint

    def block(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ht.layer_norm(ht.attention(q, k, v, OFFSETS, MAX_LEN).flatten(1))

    inputs = qkv()
    plain = torch.autograd.grad(block(*inputs).pow(3).sum(), inputs)
    for reentrant in (False, True):
        leaves = [t.detach().clone().requires_grad_() for t in inputs]
        checkpoint(block, *leaves, use_reentrant=reentrant).pow(3).sum().backward()
        for leaf_, wanted in zip(leaves, plain, strict=True):
            assert leaf_.grad is not None
            assert torch.equal(leaf_.grad, wanted)


def test_inference_mode_records_nothing() -> None:
    q, k, v = qkv()
    with torch.inference_mode():
        assert not ht.attention(q, k, v, OFFSETS, MAX_LEN).requires_grad
