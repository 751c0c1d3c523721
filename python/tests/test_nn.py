"""hstujit.nn against plain PyTorch."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from references import Mask, delta, mha, offsets_of, output, refused, uvqk
from samples import rand, rms, rotate
from torch import Tensor
from torch.nn.utils import parametrize
from torch.utils.checkpoint import checkpoint

import hstujit
from hstujit import nn
from hstujit.enums import Fp8Scaling

LENGTHS = [7, 5, 9]
OFFSETS, TOTAL, MAX_LEN = offsets_of(LENGTHS), sum(LENGTHS), 9
TARGETS = torch.tensor([2, 0, 3])
SMALL: dict[str, Any] = {"embedding_dim": 12, "num_heads": 2, "hidden_dim": 4, "attention_dim": 6}
CONFIGS: dict[str, dict[str, Any]] = {
    "default": {},
    "contexts": {"contextual_seq_len": 2},
    "window": {"max_attn_len": 3},
    "window with exempt rows": {"max_attn_len": 2, "min_full_attn_seq_len": 2},
    "group norm": {"use_group_norm": True},
    "blind to targets": {"target_aware": False},
    "alpha and divisor": {"attn_alpha": 0.7, "scaling_seqlen": 20},
}


def layer_of(seed: int = 0, dtype: torch.dtype = torch.float32, **options: Any) -> nn.STULayer:
    layer = nn.STULayer(nn.STULayerConfig(**SMALL, **options))
    with torch.no_grad():
        for at, parameter in enumerate(layer.parameters()):
            parameter.copy_(rand(*parameter.shape, seed=seed + at) / (4 if parameter.dim() > 1 else 1))
    return layer.to(dtype)


def mask_of(options: dict[str, Any]) -> Mask:
    return Mask(
        contexts=options.get("contextual_seq_len", 0),
        max_attn_len=options.get("max_attn_len", 0),
        min_full=options.get("min_full_attn_seq_len", 0),
    )


def plain(layer: nn.STULayer, x: Tensor, options: dict[str, Any], divisor: int = MAX_LEN) -> Tensor:
    """The layer in plain PyTorch."""
    p = dict(layer.named_parameters())
    u, q, k, v = uvqk(x, p["_input_norm_weight"], p["_input_norm_bias"], p["_uvqk_weight"], p["_uvqk_beta"], 1e-6, (2, 6, 4))
    attn = mha(
        q, k, v, OFFSETS,
        alpha=options.get("attn_alpha", 6**-0.5), divisor=options.get("scaling_seqlen", 0) or divisor,
        num_targets=TARGETS if options.get("target_aware", True) else None, mask=mask_of(options),
    )  # fmt: skip
    groups = 2 if options.get("use_group_norm") else 0
    return output(
        attn.flatten(1), u, x, p["_output_norm_weight"], p["_output_norm_bias"], p["_output_weight"], 1e-6, groups=groups
    )


def call(layer: nn.STU, x: Tensor) -> Tensor:
    return layer(x, OFFSETS.diff(), OFFSETS, MAX_LEN, TARGETS)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_layer_is_what_plain_pytorch_gives(name: str) -> None:
    layer, x = layer_of(**CONFIGS[name]).eval(), rand(TOTAL, 12)
    with torch.no_grad():
        torch.testing.assert_close(call(layer, x), plain(layer, x, CONFIGS[name]), atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_layer_has_the_gradients_of_plain_pytorch(name: str) -> None:
    options = CONFIGS[name]
    layer, x = layer_of(dtype=torch.float64, **options).eval(), rand(TOTAL, 12, dtype=torch.float64).requires_grad_()
    leaves = [x, *layer.parameters()]
    dout = rand(TOTAL, 12, seed=5, dtype=torch.float64)
    got = torch.autograd.grad(call(layer, x), leaves, dout)
    expected = torch.autograd.grad(plain(layer, x, options), leaves, dout)
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g, e, atol=2e-6, rtol=1e-5)  # alpha and eps are f32


def test_rows_behind_the_last_sequence_change_no_gradient_where_they_are_said_to_be() -> None:
    x, dout = rand(TOTAL + 4, 12), rand(TOTAL, 12, seed=5)

    def gradients(rows: int) -> tuple[Tensor, ...]:
        layer = layer_of(padded=rows > TOTAL).eval()
        out = call(layer, x[:rows])
        assert out.isfinite().all()
        return torch.autograd.grad(out[:TOTAL], list(layer.parameters()), dout)

    for got, expected in zip(gradients(TOTAL + 4), gradients(TOTAL), strict=True):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def test_masters_in_f32_get_gradients_in_f32() -> None:
    layer = layer_of().eval()
    x = rand(TOTAL, 12).bfloat16()
    call(layer, x).float().pow(2).mean().backward()
    for parameter in layer.parameters():
        assert parameter.grad is not None
        assert parameter.grad.dtype == torch.float32
    with torch.no_grad():
        assert call(layer, x).dtype == torch.bfloat16


def test_autocast_runs_a_layer_in_its_type() -> None:
    layer, x = layer_of().eval(), rand(TOTAL, 12)
    with torch.autocast("cpu", torch.bfloat16):
        recorded = call(layer, x)
        with torch.no_grad():
            without = call(layer, x)
    assert recorded.dtype == without.dtype == torch.bfloat16
    torch.testing.assert_close(recorded, without, atol=0.1, rtol=0.1)
    torch.testing.assert_close(without.float(), call(layer, x), atol=0.1, rtol=0.1)


def test_dropout_follows_the_generator_and_spares_eval() -> None:
    layer, x = layer_of(output_dropout_ratio=0.5), rand(TOTAL, 12)

    def run(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return call(layer, x)

    assert torch.equal(run(1), run(1))
    assert not torch.equal(run(1), run(2))
    with torch.no_grad():
        assert not torch.equal(run(1), run(2))
        layer.eval()
        assert torch.equal(run(1), run(2))


# Names, shapes and order as generative-recommenders' STULayer registers them.
PARAMETERS = {
    "_uvqk_weight": (12, 40),
    "_uvqk_beta": (40,),
    "_input_norm_weight": (12,),
    "_input_norm_bias": (12,),
    "_output_weight": (24, 12),
    "_output_norm_weight": (8,),
    "_output_norm_bias": (8,),
}


def test_a_state_dict_of_the_source_loads() -> None:
    assert {name: tuple(p.shape) for name, p in layer_of().state_dict().items()} == PARAMETERS
    grouped = {name: tuple(p.shape) for name, p in layer_of(use_group_norm=True).state_dict().items()}
    assert grouped == PARAMETERS | {"_output_norm_weight": (2,), "_output_norm_bias": (2,)}
    state = {f"_stu_layers.{i}.{name}": rand(*shape, seed=i) / 4 for i in range(2) for name, shape in PARAMETERS.items()}
    stack = nn.STUStack([layer_of(), layer_of(seed=9)]).eval()
    stack.load_state_dict(state)
    expected = x = rand(TOTAL, 12)
    with torch.no_grad():
        for i in range(2):
            layer = layer_of().eval()
            layer.load_state_dict({name: state[f"_stu_layers.{i}.{name}"] for name in PARAMETERS})
            expected = plain(layer, expected, {})
        torch.testing.assert_close(call(stack, x), expected, atol=2e-5, rtol=2e-5)


def test_a_parametrised_weight_is_used() -> None:
    class Doubled(torch.nn.Module):
        def forward(self, weight: Tensor) -> Tensor:
            return 2 * weight

    layer, x = layer_of().eval(), rand(TOTAL, 12)
    parametrize.register_parametrization(layer, "_output_weight", Doubled())
    twice = layer_of().eval()
    with torch.no_grad():
        twice._output_weight.mul_(2)
        torch.testing.assert_close(call(nn.STUStack([layer]), x), call(twice, x))


def test_a_stack_is_one_call_where_its_layers_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    x, calls = rand(TOTAL, 12), []
    original = nn._stack
    monkeypatch.setattr(nn, "_stack", lambda layers, *rest: (calls.append(len(layers)), original(layers, *rest))[1])
    alike = nn.STUStack([layer_of(seed=i) for i in range(3)]).eval()
    other = nn.STUStack([layer_of(), layer_of(max_attn_len=2)]).eval()
    with torch.no_grad():
        for stack in (alike, other):
            expected = x
            for layer in stack._stu_layers:
                expected = plain(layer, expected, {"max_attn_len": layer._max_attn_len})
            torch.testing.assert_close(call(stack, x), expected, atol=2e-5, rtol=2e-5)
    assert calls == [3, 1, 1]
    assert call(alike, x).requires_grad
    assert calls == [3, 1, 1]
    seen: list[str] = []
    alike._stu_layers[1].register_forward_hook(lambda *_: seen.append("layer 1"))
    with torch.no_grad():
        call(alike, x)
    assert (calls, seen) == ([3, 1, 1, 1, 1, 1], ["layer 1"])


def test_new_rows_continue_what_was_cached() -> None:
    """Rows that a forward kept, then new ones, give what a forward of all of them gives."""
    old, new = [4, 2, 6], 3
    x = [rand(n + new, 12, seed=n) for n in old]
    stack = nn.STUStack([layer_of(seed=i, scaling_seqlen=10) for i in range(2)]).eval()
    targets = torch.tensor([2, 0, 3])
    with torch.no_grad():
        offsets = offsets_of([n + new for n in old])
        whole = stack(torch.cat(x), None, offsets, 9, targets)
        lengths = torch.tensor(old)
        # The prefill has rows behind those that are kept: the source's own use.
        prefill = torch.cat([torch.cat([each[: n + 1]]) for each, n in zip(x, old, strict=True)])
        stack(prefill, None, offsets_of([n + 1 for n in old]), 7, torch.tensor([1, 1, 1]), 0, lengths)
        assert stack._stu_layers[0].max_kv_caching_len == 6
        got = stack.cached_forward(torch.cat([each[-new:] for each in x]), targets)
        expected = torch.cat([whole[int(end) - new : int(end)] for end in offsets[1:]])
        torch.testing.assert_close(got, expected, atol=2e-5, rtol=2e-5)
        # Growing: the new rows join the cache, and further ones continue it.
        layer = stack._stu_layers[0]
        layer.cached_forward(torch.cat([each[-new:] for each in x]), None, 0, lengths + 1)
        assert layer.k_cache.size(0) == sum(old) + 3
        stack.reset_kv_cache()
        with pytest.raises(hstujit.Error, match="nothing is cached"):
            stack.cached_forward(torch.cat([each[-new:] for each in x]), targets)


def test_the_divisor_of_cached_rows_is_the_source_s() -> None:
    """The greatest cached length and the new rows, not the prefill's."""
    layer, old, new = layer_of().eval(), [4, 2], 2
    x = [rand(n + new, 12, seed=n) for n in old]
    p = dict(layer.named_parameters())
    with torch.no_grad():
        layer(
            torch.cat([each[:n] for each, n in zip(x, old, strict=True)]), None, offsets_of(old), 50, None, 4, torch.tensor(old)
        )
        got = layer.cached_forward(torch.cat([each[-new:] for each in x]), None)
        weights = (p["_input_norm_weight"], p["_input_norm_bias"], p["_uvqk_weight"], p["_uvqk_beta"], 1e-6, (2, 6, 4))
        _, _, k, v = uvqk(torch.cat(x), *weights)
        fresh = torch.cat([each[-new:] for each in x])
        u, q, _, _ = uvqk(fresh, *weights)
        offsets = offsets_of([n + new for n in old])
        attn = delta(q, k, v, offsets_of([new, new]), offsets, alpha=6**-0.5, divisor=4 + new)
        expected = output(
            attn.flatten(1), u, fresh, p["_output_norm_weight"], p["_output_norm_bias"], p["_output_weight"], 1e-6
        )
    torch.testing.assert_close(got, expected, atol=2e-5, rtol=2e-5)


def test_a_stack_takes_modules_that_have_no_cache() -> None:
    class Doubling(nn.STU):
        def forward(self, x: Tensor, *rest: Any, **more: Any) -> Tensor:
            return 2 * x

    stack, x = nn.STUStack([Doubling(), layer_of()]).eval(), rand(TOTAL, 12)
    with torch.no_grad():
        torch.testing.assert_close(call(stack, x), call(layer_of().eval(), 2 * x))
        stack.reset_kv_cache()
        with pytest.raises(NotImplementedError, match="Doubling has no cached_forward"):
            stack.cached_forward(x, None)


def test_what_has_no_gradient_says_so() -> None:
    layer = layer_of()
    with torch.no_grad():
        layer(rand(TOTAL, 12), None, OFFSETS, MAX_LEN, None, 0, OFFSETS.diff())
    with pytest.raises(NotImplementedError, match=r"STULayer\.cached_forward: it records no gradient"):
        layer.cached_forward(rand(3, 12), None)
    with pytest.raises(NotImplementedError, match="FP8Linear: it records no gradient"):
        nn.FP8Linear(16, 8)(rand(4, 16))
    with refused("rms_norm_rope"):
        nn.FusedRMSNormRoPE(16, 8)(rand(2, 3, 16), rand(3, 8), rand(3, 8))
    with pytest.raises(NotImplementedError, match="causal"):
        layer_of(causal=False)


def test_a_layer_of_no_rows() -> None:
    layer, offsets = layer_of().eval(), torch.zeros(3, dtype=torch.int64)
    x = torch.empty(0, 12, requires_grad=True)
    with torch.no_grad():
        assert layer(x, None, offsets, 4, None).shape == (0, 12)
    out = layer(x, None, offsets, 4, torch.zeros(2, dtype=torch.int64))
    (dx,) = torch.autograd.grad(out.sum(), x)
    assert dx.shape == (0, 12)


@pytest.mark.parametrize("scaling", [Fp8Scaling.ROW, Fp8Scaling.GROUP])
@pytest.mark.parametrize("w_scaling", list(Fp8Scaling))
def test_fp8_linear_is_near_the_exact_product(scaling: Fp8Scaling, w_scaling: Fp8Scaling) -> None:
    layer = nn.FP8Linear(160, 24, bias=True, x_scaling=scaling, w_scaling=w_scaling)
    with torch.no_grad():
        layer.bias.copy_(rand(24))
        x = rand(2, 5, 160)
        exact = F.linear(x, layer.weight, layer.bias)
        error = (layer(x) - exact).norm() / (exact - layer.bias).norm()
        assert error < 6e-2  # both operands are rounded to 3 bits: 3.7e-2 on normal data
        q, scale = layer.weight_fp8, layer.weight_scale
        assert q.dtype == torch.float8_e4m3fn
        if w_scaling == Fp8Scaling.TENSOR:
            torch.testing.assert_close(q.float() * scale, layer.weight, atol=float(scale) * 16, rtol=0.07)


def test_fp8_linear_follows_its_weight() -> None:
    layer, x = nn.FP8Linear(32, 8).eval(), rand(3, 32)
    with torch.no_grad():
        first = layer(x)
        layer.weight.mul_(2)
        torch.testing.assert_close(layer(x), 2 * first, atol=1e-6, rtol=1e-6)
        layer.load_state_dict({"weight": torch.zeros(8, 32)})
        assert torch.equal(layer(x), torch.zeros(3, 8))
        assert set(layer.state_dict()) == {"weight"}


def test_fp8_linear_survives_what_modules_go_through() -> None:
    layer, x = nn.FP8Linear(32, 8).eval(), rand(3, 32)
    with torch.no_grad():
        first = layer(x)
        other = copy.deepcopy(layer)
        other.weight.mul_(2)
        torch.testing.assert_close(other(x), 2 * first, atol=1e-6, rtol=1e-6)
        assert torch.equal(layer(x), first)
        for _ in range(3):  # weights that take turns in the same memory
            layer.weight = torch.nn.Parameter(rand(8, 32) * 3)
        torch.testing.assert_close(layer(x), x @ layer.weight.T, atol=1.5, rtol=0.1)
        torch.testing.assert_close(other.half()(x.half()).float(), 2 * first, atol=0.05, rtol=0.05)
    with torch.inference_mode():
        inference = nn.FP8Linear(32, 8)
        before = inference(x)
        inference.weight.mul_(2)
        torch.testing.assert_close(inference(x), 2 * before, atol=1e-6, rtol=1e-6)


def test_fp8_linear_compiles_once_it_is_quantised() -> None:
    torch._dynamo.reset()
    layer, x = nn.FP8Linear(32, 8).eval(), rand(3, 32)
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="eager")
    with torch.no_grad():
        layer.quantize_weights()
        assert torch.equal(compiled(x), layer(x))


@pytest.mark.parametrize("activation", ["silu", "gelu"])
def test_gated_mlp_is_what_plain_pytorch_gives(activation: str) -> None:
    layer, x = nn.FusedGatedMLP(16, 24, activation), rand(2, 3, 16)
    with torch.no_grad():
        expected = F.linear(x, layer.gate_weight) * getattr(F, activation)(F.linear(x, layer.up_weight))
        torch.testing.assert_close(layer(x), expected, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="activation: 'relu' is neither"):
        nn.FusedGatedMLP(16, 24, "relu")


@pytest.mark.parametrize("four_dimensions", [False, True])
def test_rms_norm_rope_is_what_plain_pytorch_gives(four_dimensions: bool) -> None:
    layer, x, cos, sin = nn.FusedRMSNormRoPE(16, 8, 1e-3), rand(2, 3, 16), rand(3, 8, seed=1), rand(3, 8, seed=2)
    with torch.no_grad():
        layer.weight.copy_(rand(16))
        given = (cos[None, :, None], sin[None, :, None]) if four_dimensions else (cos, sin)
        expected = rotate(rms(x, layer.weight, 1e-3), cos, sin, 8)
        torch.testing.assert_close(layer(x, *given), expected, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="head_dim: 5 does not divide"):
        nn.FusedRMSNormRoPE(16, 5)


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_layer_may_be_computed_again_in_the_backward_pass(reentrant: bool) -> None:
    layer = layer_of(output_dropout_ratio=0.3)
    x = rand(TOTAL, 12).requires_grad_()
    leaves = [x, *layer.parameters()]

    def gradients(checkpointed: bool) -> tuple[Tensor, ...]:
        for leaf in leaves:
            leaf.grad = None
        torch.manual_seed(1)
        given = (x, None, OFFSETS, MAX_LEN, TARGETS)
        out = checkpoint(layer, *given, use_reentrant=reentrant) if checkpointed else layer(*given)
        out.pow(2).sum().backward()
        return tuple(leaf.grad for leaf in leaves)  # type: ignore[misc]

    # Reentrant checkpoints run without gradients first, another way to the same result.
    tolerance = 1e-4 if reentrant else 0.0
    for got, expected in zip(gradients(True), gradients(False), strict=True):
        torch.testing.assert_close(got, expected, atol=tolerance, rtol=tolerance)


def test_second_derivatives_are_refused() -> None:
    layer, x = layer_of().eval(), rand(TOTAL, 12).requires_grad_()
    (dx,) = torch.autograd.grad(call(layer, x).pow(2).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        dx.sum().backward()


def test_a_stack_compiles_under_autocast() -> None:
    torch._dynamo.reset()
    layer, x = layer_of().eval(), rand(TOTAL, 12)

    def run(x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return call(layer, x)

    compiled = torch.compile(run, fullgraph=True, dynamic=True, backend="eager")
    got, expected = compiled(x), run(x)
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got, expected, atol=0.05, rtol=0.05)


def test_a_stack_is_exported_with_free_lengths() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stack = nn.STUStack([layer_of(seed=i) for i in range(2)])

        def forward(self, x: Tensor, offsets: Tensor, targets: Tensor) -> Tensor:
            return self.stack(x, None, offsets, 16, targets)

    model, free = Model().eval(), torch.export.Dim.DYNAMIC
    with torch.no_grad():
        program = torch.export.export(
            model, (rand(TOTAL, 12), OFFSETS, TARGETS), dynamic_shapes=({0: free}, {0: free}, {0: free})
        )
        given = (rand(9, 12), offsets_of([3, 2, 1, 3]), torch.tensor([1, 0, 0, 2]))
        assert torch.equal(program.module()(*given), model(*given))
    assert sum("hstujit.stack" in str(node.target) for node in program.graph.nodes) == 1


@pytest.mark.parametrize("gradients", [False, True])
def test_a_stack_compiles_without_graph_breaks(gradients: bool) -> None:
    torch._dynamo.reset()
    stack = nn.STUStack([layer_of(seed=i) for i in range(2)]).eval()
    compiled = torch.compile(stack, fullgraph=True, dynamic=True, backend="eager" if gradients else "aot_eager")

    def both(lengths: list[int]) -> tuple[Tensor, Tensor]:
        given = (rand(sum(lengths), 12), None, offsets_of(lengths), max(lengths), torch.ones(len(lengths), dtype=torch.int64))
        return compiled(*given), stack(*given)

    with torch.set_grad_enabled(gradients):
        for lengths in ([4, 3], [5, 2, 7]):
            torch.testing.assert_close(*both(lengths), atol=1e-5, rtol=1e-5)
        with torch._dynamo.config.patch(error_on_recompile=True):
            for lengths in ([3, 3, 2], [9, 4], [2, 2, 2, 8]):
                got, _ = both(lengths)
                assert got.requires_grad == gradients
