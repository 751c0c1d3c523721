"""Modules and the functions of other libraries on a GPU, against what they give on the CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from references import offsets_of
from samples import rand
from test_compat import CASES, STATE, STU_CALL, STU_DELTA, layer_of, object_of
from test_operators import error
from torch import Tensor
from torch.utils._pytree import tree_map_only

import hstujit
from hstujit import nn

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
F32, BF16 = 2e-3, 4e-2  # sums in f32 in another order; a layer's roundings to 8 bits


def on_gpu(values: Any) -> Any:
    return tree_map_only(Tensor, lambda t: t.cuda(), values)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.call is None])
def test_functions_give_what_they_give_on_the_cpu(name: str) -> None:
    case = CASES[name]
    expected = case.expected()
    with torch.no_grad():
        found = object_of(name)(**on_gpu(case.kwargs))
    pairs = [(found, expected)] if isinstance(found, Tensor) else list(zip(found, expected, strict=True))
    for ours, wanted in pairs:
        assert ours.is_cuda
        assert error(ours.cpu(), wanted) <= max(F32, case.tolerance)


def big_stack(dtype: torch.dtype, **options: Any) -> nn.STUStack:
    torch.manual_seed(0)
    config = nn.STULayerConfig(embedding_dim=128, num_heads=2, hidden_dim=64, attention_dim=64, **options)
    return nn.STUStack([nn.STULayer(config) for _ in range(2)]).to(dtype).eval()


LENGTHS = [70, 1, 130, 257]
BIG = (rand(sum(LENGTHS), 128), None, offsets_of(LENGTHS), max(LENGTHS), torch.tensor([5, 0, 20, 64]))


@pytest.mark.parametrize("options", [{}, {"max_attn_len": 33, "contextual_seq_len": 1}, {"use_group_norm": True}], ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, F32), (torch.bfloat16, BF16), (torch.float16, BF16)])
def test_stacks_with_and_without_gradients(options: dict[str, Any], dtype: torch.dtype, tolerance: float) -> None:
    stack = big_stack(torch.float32, **options)
    with torch.no_grad():
        expected = stack(*BIG)
    stack.cuda()
    x, *rest = on_gpu(BIG)
    with torch.no_grad():
        assert error(stack(x.to(dtype), *rest).float().cpu(), expected) <= tolerance
    recorded = stack(x.to(dtype), *rest)
    assert recorded.requires_grad
    assert error(recorded.detach().float().cpu(), expected) <= tolerance


def test_gradients_of_a_stack() -> None:
    def gradients(device: str) -> list[Tensor]:
        stack = big_stack(torch.float32, max_attn_len=33).to(device)
        x, *rest = (t.to(device) if isinstance(t, Tensor) else t for t in BIG)
        leaves = [x.detach().requires_grad_(), *stack.parameters()]
        out = stack(leaves[0], *rest)
        return [g.cpu() for g in torch.autograd.grad(out, leaves, rand(*out.shape, seed=3).to(device))]

    for found, wanted in zip(gradients("cuda"), gradients("cpu"), strict=True):
        assert error(found, wanted) <= F32


def test_new_rows_continue_what_was_cached() -> None:
    def run(device: str) -> Tensor:
        layer = layer_of().to(device)
        moved = {n: t.to(device) if isinstance(t, Tensor) else t for n, t in STU_CALL.items()}
        layer(**moved, kv_caching_lengths=moved["x_offsets"].diff())
        return layer.cached_forward(STU_DELTA["delta_x"].to(device), None).cpu()

    with torch.no_grad():
        assert error(run("cuda"), run("cpu")) <= F32
    assert set(STATE) == set(dict(layer_of().named_parameters()))


def test_a_stack_in_a_graph_gives_the_same_bits() -> None:
    stack = big_stack(torch.bfloat16).cuda()
    x, *rest = on_gpu(BIG)
    x = x.bfloat16()
    with torch.no_grad():
        expected = stack(x, *rest)  # loads the kernels
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = stack(x, *rest)
        graph.replay()
        torch.cuda.synchronize()
    assert torch.equal(out, expected)


def test_autocast_runs_a_stack_in_its_type() -> None:
    stack = big_stack(torch.float32).cuda()
    x, *rest = on_gpu(BIG)
    with torch.autocast("cuda", torch.bfloat16):
        out = stack(x, *rest)
    assert out.dtype == torch.bfloat16
    out.float().pow(2).mean().backward()
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in stack.parameters())


@pytest.mark.parametrize("module", ["FP8Linear", "FusedGatedMLP", "FusedRMSNormRoPE"])
def test_modules_of_fused_operators(module: str) -> None:
    torch.manual_seed(0)
    made = {
        "FP8Linear": (nn.FP8Linear(256, 128, bias=True), (rand(3, 40, 256),)),
        "FusedGatedMLP": (nn.FusedGatedMLP(256, 128, "gelu"), (rand(3, 40, 256),)),
        "FusedRMSNormRoPE": (nn.FusedRMSNormRoPE(256, 64), (rand(3, 40, 256), rand(40, 64), rand(40, 64, seed=1))),
    }
    layer, given = made[module]
    with torch.no_grad():
        expected = layer(*given)
        found = layer.cuda()(*on_gpu(given))
        assert error(found.cpu(), expected) <= F32
        half = layer.bfloat16()(*(t.bfloat16() for t in on_gpu(given)))
        assert error(half.float().cpu(), expected) <= BF16


def test_tensors_on_two_devices_are_refused() -> None:
    with pytest.raises(hstujit.Error, match="device"), torch.no_grad():
        layer_of().cuda()(**(STU_CALL | {"x": STU_CALL["x"].cuda()}))
