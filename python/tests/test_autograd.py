"""Gradients: against finite differences in f64, against plain PyTorch, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import samples
import torch
import torch.nn.functional as F
from samples import DIMS, LAYER, MAX_LEN, OFFSETS, OFFSETS_OF_BOTH, TOTAL, rand
from torch import Tensor

import hstujit
import hstujit.torch as ht
from hstujit.enums import Activation, DropoutStream, Mask, Norm, Recompute
from hstujit.torch import autograd, schemas

F64 = torch.float64


def leaf(*shape: int, seed: int = 0) -> Tensor:
    return rand(*shape, seed=seed, dtype=F64).requires_grad_()


def qkv() -> tuple[Tensor, Tensor, Tensor]:
    return leaf(TOTAL, 2, 4), leaf(TOTAL, 2, 4, seed=1), leaf(TOTAL, 2, 4, seed=2)


def test_every_function_with_gradients_is_marked_in_the_table() -> None:
    assert {op.name for op in schemas.OPERATORS if op.gradient} == set(autograd.__all__)
    assert all(getattr(ht, name) is getattr(autograd, name) for name in autograd.__all__)


def test_layer_norm_agrees_with_finite_differences() -> None:
    assert torch.autograd.gradcheck(ht.layer_norm, (leaf(5, 6), leaf(6), leaf(6, seed=1)))
    assert torch.autograd.gradcheck(ht.layer_norm, (leaf(5, 6),))


def test_other_norms_agree_with_finite_differences() -> None:
    assert torch.autograd.gradcheck(ht.swish_layer_norm, (leaf(5, 6), leaf(6), leaf(6, seed=1)))
    assert torch.autograd.gradcheck(ht.rms_norm, (leaf(5, 6), leaf(6)))
    assert torch.autograd.gradcheck(lambda x, w: ht.rms_norm(x, w, activation=Activation.SILU), (leaf(5, 6), leaf(6)))


def test_group_norm_agrees_with_finite_differences() -> None:
    for inputs in ((leaf(5, 6), leaf(3), leaf(3, seed=1)), (leaf(5, 6),)):
        assert torch.autograd.gradcheck(lambda *given: ht.group_norm(*given, num_groups=3), inputs)


GATES: dict[str, dict[str, Any]] = {
    "product alone": {},
    "all segments": {"activation": Activation.SILU, "concat_u": True, "concat_x": True, "silu_u": True},
    "groups": {"num_groups": 3, "concat_u": True, "concat_x": True},
    "groups through SiLU": {"num_groups": 3, "silu_u": True},
    "sigmoid and swish": {"activation": Activation.SIGMOID, "concat_x": True, "norm": Norm.SWISH},
    "dropout": {"concat_u": True, "dropout_ratio": 0.4, "seed": 5, "dropout_stream": DropoutStream.FAST},
}


@pytest.mark.parametrize("name", GATES)
def test_the_output_stage_agrees_with_finite_differences(name: str) -> None:
    options, width = GATES[name], GATES[name].get("num_groups", 6)
    inputs = (leaf(5, 6), leaf(5, 6, seed=1), leaf(width), leaf(width, seed=1))
    assert torch.autograd.gradcheck(lambda *given: ht.norm_mul(*given, **options), inputs)


def test_the_output_stage_of_rms_norm_agrees_with_finite_differences() -> None:
    inputs = (leaf(5, 6), leaf(5, 6, seed=1), leaf(6))
    assert torch.autograd.gradcheck(lambda *given: ht.norm_mul(*given, norm=Norm.RMS, concat_u=True), inputs)


def test_dropout_of_the_output_stage_is_the_same_in_its_gradient() -> None:
    attn, u, w, b = leaf(5, 6), leaf(5, 6, seed=1), leaf(6), leaf(6, seed=1)
    out = ht.norm_mul(attn, u, w, b, concat_x=True, dropout_ratio=0.5, seed=3)
    dropped = out[:, 6:] == 0
    assert 0 < dropped.sum() < dropped.numel()
    (du,) = torch.autograd.grad(out.sum(), u)
    assert torch.equal(du == 0, dropped)


JOINS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "jagged": ((TOTAL, 3), (6, 3), OFFSETS_OF_BOTH),
    "prefix": ((TOTAL, 3), (6, 3), {**OFFSETS_OF_BOTH, "n_prefix_from_right": 1}),
    "replacing": ((TOTAL, 3), (6, 3), {**OFFSETS_OF_BOTH, "is_replace": True}),
    "dense left": ((4, 2, 3), (TOTAL, 3), {"offsets_right": OFFSETS, "max_len_left": 2}),
    "two dense parts": ((8, 3), (4, 1, 3), {"max_len_left": 2, "max_len_right": 1}),
}


@pytest.mark.parametrize("name", JOINS)
def test_joining_agrees_with_finite_differences(name: str) -> None:
    left, right, options = JOINS[name]
    inputs = (leaf(*left), leaf(*right, seed=1))
    assert torch.autograd.gradcheck(lambda *given: ht.concat_2d_jagged(*given, **options), inputs)
    one = rand(*left, dtype=F64)
    assert torch.autograd.gradcheck(lambda right: ht.concat_2d_jagged(one, right, **options), inputs[1:])


def test_parting_agrees_with_finite_differences() -> None:
    assert torch.autograd.gradcheck(lambda t: ht.split_2d_jagged(t, TOTAL, **OFFSETS_OF_BOTH), (leaf(15, 3),))
    options = {"offsets_right": OFFSETS, "max_len_left": 2, "n_prefix_to_right": 1}
    assert torch.autograd.gradcheck(lambda t: ht.split_2d_jagged(t, 8, **options), (leaf(17, 3),))


@pytest.mark.parametrize("activation", [Activation.NONE, Activation.SILU, Activation.GELU, Activation.GELU_TANH])
@pytest.mark.parametrize("columns", [0, 3])
def test_products_agree_with_finite_differences(activation: Activation, columns: int) -> None:
    columns = columns if activation else 0

    def call(x: Tensor, w: Tensor, bias: Tensor, residual: Tensor) -> Tensor:
        return ht.addmm(x, w, bias, residual, activation=activation, activation_columns=columns)

    inputs = (leaf(4, 5), leaf(5, 6), leaf(6), leaf(4, 6, seed=1))
    assert torch.autograd.gradcheck(call, inputs)
    assert torch.allclose(call(*inputs), call(*(t.detach() for t in inputs)), rtol=1e-6)


def test_a_weight_that_is_stored_transposed_gets_such_a_gradient() -> None:
    weight = leaf(6, 5)
    assert torch.autograd.gradcheck(lambda x, weight: ht.addmm(x, weight.t()), (leaf(4, 5), weight))
    ht.addmm(leaf(4, 5), weight.t()).sum().backward()
    assert weight.grad is not None
    assert weight.grad.is_contiguous()


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


NAMES = list(LAYER)
STACKS: dict[str, dict[str, Any]] = {
    "layer norm": {"concat_u": True, "concat_x": True},
    "product alone": {"activation": Activation.SILU},
    "groups": {"num_groups": 2, "concat_u": True, "concat_x": True},
    "RMS norm": {"norm": Norm.RMS, "concat_x": True},
    "dropout": {"concat_u": True, "dropout_ratio": 0.3, "seed": 11, "dropout_stream": DropoutStream.FAST},
    "softmax heads": {"concat_u": True, "num_softmax_heads": 1},
    "targets": {"num_targets": torch.tensor([1, 0, 2, 0]), "contextual_seq_len": 1, "scaling_seqlen": 7},
    "projections again": {"concat_u": True, "concat_x": True, "recompute": Recompute.UVQK},
}


def parameters_of(options: dict[str, Any]) -> list[list[Tensor]]:
    """Of two layers, as the output stage of these options has them."""
    wide = 8 * (1 + options.get("concat_u", False) + options.get("concat_x", False))
    normed = options.get("num_groups", 8)
    out = [[t.clone() for t in LAYER[name]] for name in NAMES]
    out[4], out[5] = ([t[:normed] for t in list_] for list_ in (out[4], [] if options.get("norm") else out[5]))
    out[6] = [t[:wide] for t in out[6]]
    return out


def stacked(x: Tensor, lists: list[list[Tensor]], options: dict[str, Any]) -> Tensor:
    return ht.stack(x, *lists, OFFSETS, MAX_LEN, **DIMS, **options)


ATTENTION = ("num_softmax_heads", "num_targets", "contextual_seq_len", "scaling_seqlen")


def layer_by_layer(x: Tensor, lists: list[list[Tensor]], options: dict[str, Any]) -> Tensor:
    """The same of operators that finite differences prove."""
    mask = {name: value for name, value in options.items() if name in ATTENTION}
    gate = {name: value for name, value in options.items() if name not in (*ATTENTION, "recompute", "seed")}
    for i in range(2):
        norm_weight, norm_bias, uvqk, bias, out_weight, out_bias, w = (list_[i] if list_ else None for list_ in lists)
        assert uvqk is not None
        assert w is not None
        assert out_weight is not None
        u, v, q, k = ht.addmm(ht.layer_norm(x, norm_weight, norm_bias, eps=1e-6), uvqk, bias).split([8] * 4, 1)
        attn = ht.attention(*(t.reshape(TOTAL, 2, 4) for t in (q, k, v)), OFFSETS, MAX_LEN, **mask).flatten(1)
        seed = options.get("seed", 0) + i
        y = ht.norm_mul(attn, F.silu(u), out_weight, out_bias, eps=1e-6, **gate, seed=seed)
        x = ht.addmm(y, w, residual=x)
    return x


def gradients_of(call: Callable[..., Tensor], dtype: torch.dtype, name: str) -> tuple[Tensor, list[Tensor]]:
    options = STACKS[name]
    x, dout = (rand(TOTAL, 16, seed=s).to(dtype) for s in (3, 4))
    lists = [[t.to(dtype).requires_grad_() for t in list_] for list_ in parameters_of(options)]
    leaves = [x.requires_grad_(), *itertools.chain(*lists)]
    out = call(x, lists, options)
    return out.detach(), list(torch.autograd.grad(out, leaves, dout))


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_has_the_gradients_of_its_operators(name: str) -> None:
    """Chains compute in f32, so that finite differences are too coarse for them."""
    out, found = gradients_of(stacked, torch.float32, name)
    plain, wanted = gradients_of(layer_by_layer, F64, name)
    assert len(found) == len(wanted) == (13 if name == "RMS norm" else 15)
    for a, b in zip([out, *found], [plain, *wanted], strict=True):
        assert b.norm() > 0.1
        assert (a.double() - b).norm() <= 2e-5 * b.norm()


def test_parameters_of_a_stack_have_gradients_in_their_types() -> None:
    options = STACKS["layer norm"] | {"cast_parameters": True}
    x, dout = rand(TOTAL, 16, seed=3).bfloat16(), rand(TOTAL, 16, seed=4).bfloat16()
    masters = [[t.bfloat16().float().requires_grad_() for t in list_] for list_ in parameters_of(options)]
    masters[1] = [t.detach().bfloat16().requires_grad_() for t in masters[1]]
    same = [[t.detach().bfloat16().requires_grad_() for t in list_] for list_ in masters]
    found, wanted = (
        torch.autograd.grad(stacked(x, lists, options), list(itertools.chain(*lists)), dout) for lists in (masters, same)
    )
    assert [t.dtype for t in found] == [torch.float32] * 2 + [torch.bfloat16] * 2 + [torch.float32] * 10
    assert all(t.dtype == torch.bfloat16 for t in wanted)
    for a, b in zip(found, wanted, strict=True):
        assert torch.equal(a.bfloat16(), b)
        assert a.dtype == torch.bfloat16 or not torch.equal(a, b.float())
    with torch.no_grad():
        assert torch.equal(stacked(x, masters, options), stacked(x, same, options))
        with pytest.raises(hstujit.UnsupportedType, match=r"uvqk_weight\.dtype = f32"):
            stacked(x, masters, STACKS["layer norm"])


def test_projections_that_are_made_again_change_no_bit() -> None:
    for one, other in zip(
        gradients_of(stacked, torch.float32, "layer norm"),
        gradients_of(stacked, torch.float32, "projections again"),
        strict=True,
    ):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def kept_bytes(recompute: int) -> int:
    """Of tensors that no parameter and no input is."""
    lists = [[t.requires_grad_() for t in list_] for list_ in parameters_of({"concat_u": True, "concat_x": True})]
    sizes: list[int] = []

    def pack(t: Tensor) -> Tensor:
        sizes.append(t.nbytes if t.dtype == torch.uint8 else 0)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        stacked(rand(TOTAL, 16), lists, {"concat_u": True, "concat_x": True, "recompute": recompute})
    return sum(sizes)


def test_projections_that_are_made_again_are_not_kept() -> None:
    uvqk = 2 * -(-TOTAL * 32 * 4 // 256) * 256
    assert kept_bytes(0) - kept_bytes(Recompute.UVQK) == uvqk
    assert kept_bytes(Recompute.NORMED_X | Recompute.Y) == kept_bytes(0)


def test_frozen_parameters_of_a_stack_change_nothing_else() -> None:
    options = STACKS["layer norm"]
    every = [[t.requires_grad_() for t in list_] for list_ in parameters_of(options)]
    x, dout = rand(TOTAL, 16, seed=3), rand(TOTAL, 16, seed=4)
    wanted = torch.autograd.grad(stacked(x, every, options), [every[2][0], every[4][1]], dout)
    some = parameters_of(options)
    leaves = [some[2][0].requires_grad_(), some[4][1].requires_grad_()]
    stacked(x, some, options).backward(dout)
    for leaf_, gradient in zip(leaves, wanted, strict=True):
        assert leaf_.grad is not None
        assert torch.equal(leaf_.grad, gradient)
    assert all(t.grad is None for t in itertools.chain(*some) if not t.requires_grad)


def test_a_stack_without_a_bias_of_its_projections_has_gradients() -> None:
    options = STACKS["layer norm"]
    lists = parameters_of(options)
    leaves = [t.requires_grad_() for t in lists[2]]
    lists[3] = []
    found = torch.autograd.grad(stacked(rand(TOTAL, 16), lists, options).sum(), leaves)
    lists[3] = [torch.zeros(32), torch.zeros(32)]
    wanted = torch.autograd.grad(stacked(rand(TOTAL, 16), lists, options).sum(), leaves)
    assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(found, wanted, strict=True))


def test_rows_behind_the_last_sequence_of_a_stack_are_zero_when_padded() -> None:
    options = STACKS["layer norm"]
    lists = [[t.requires_grad_() for t in list_] for list_ in parameters_of(options)]
    x = rand(TOTAL, 16).requires_grad_()
    behind = torch.cat([x.detach(), torch.full((3, 16), torch.nan)]).requires_grad_()
    out = stacked(behind, lists, {**options, "padded": True})
    assert torch.equal(out[TOTAL:], torch.zeros(3, 16))
    plain = stacked(x, lists, options)
    assert torch.equal(out[:TOTAL], plain)
    leaves = list(itertools.chain(*lists))
    dx, *found = torch.autograd.grad(out.sum(), [behind, *leaves])
    dx_, *wanted = torch.autograd.grad(plain.sum(), [x, *leaves])
    assert torch.equal(dx, torch.cat([dx_, torch.zeros(3, 16)]))
    assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(found, wanted, strict=True))
    with torch.no_grad():
        assert torch.equal(stacked(behind, lists, {**options, "padded": True}), out)


@pytest.mark.parametrize("name", ["rab", "attn_scale"])
def test_a_stack_refuses_gradients_that_it_has_not(name: str) -> None:
    lists = [[t.requires_grad_() for t in list_] for list_ in parameters_of({})]
    given = {"rab": rand(4, 1, MAX_LEN, MAX_LEN), "attn_scale": rand(TOTAL)}[name]
    assert stacked(rand(TOTAL, 16), lists, {name: given}).requires_grad
    with pytest.raises(NotImplementedError, match=f"stack: {name}: a stack has no gradient of it"):
        stacked(rand(TOTAL, 16), lists, {name: given.requires_grad_()})


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


SECOND: dict[str, Callable[[Tensor], Tensor]] = {
    "layer_norm": lambda q: ht.layer_norm(q.flatten(1)),
    "group_norm": lambda q: ht.group_norm(q.flatten(1), num_groups=2),
    "norm_mul": lambda q: ht.norm_mul(q.flatten(1), q.flatten(1), torch.ones(8, dtype=F64), torch.zeros(8, dtype=F64)),
    "attention": lambda q: ht.attention(q, q, q, OFFSETS, MAX_LEN),
    "concat_2d_jagged": lambda q: ht.concat_2d_jagged(q.flatten(1), q.flatten(1), max_len_left=1, max_len_right=1),
    "stack": lambda q: stacked(q.repeat(1, 1, 2).flatten(1).float(), parameters_of({}), {}),
    "split_2d_jagged": lambda q: ht.split_2d_jagged(q.flatten(1), 3, offsets_left=torch.tensor([0, 3]), max_len_right=6)[0],
}


@pytest.mark.parametrize("which", SECOND)
def test_second_derivatives_are_refused(which: str) -> None:
    q = leaf(TOTAL, 2, 4)
    out = SECOND[which](q)
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
