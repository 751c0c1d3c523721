"""torch.compile, torch.export: whole graphs, and no recompilation for other lengths."""

from __future__ import annotations

import pytest
import torch
import torch._dynamo
from samples import LAYER, rand
from torch import Tensor

import hstujit.torch as ht

DIMS = {"num_heads": 2, "attn_dim": 4, "hidden_dim": 4, "concat_u": True, "concat_x": True}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def offsets_of(lengths: list[int]) -> Tensor:
    return torch.tensor([0, *lengths]).cumsum(0)


def layer(x: Tensor, w: Tensor, b: Tensor, qkv: Tensor, offsets: Tensor, max_seq_len: int) -> Tensor:
    """A layer from the operators that have gradients."""
    normed = ht.layer_norm(x, w, b)
    q, k, v = (normed @ qkv).view(x.size(0), 3, 2, 8).unbind(1)
    return x + ht.attention(q, k, v, offsets, max_seq_len).flatten(1) * normed


def inputs(lengths: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, int]:
    leaves = (rand(sum(lengths), 16), rand(16), rand(16, seed=1), rand(16, 48) / 4)
    return (*(t.requires_grad_() for t in leaves), offsets_of(lengths), max(lengths))  # type: ignore[return-value]


def test_a_layer_with_gradients_compiles_as_a_whole() -> None:
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="aot_eager")
    for lengths in ([3, 4], [5, 1, 2]):
        ours, plain = inputs(lengths), inputs(lengths)
        gradients = torch.autograd.grad(compiled(*ours).pow(2).sum(), ours[:4])
        expected = torch.autograd.grad(layer(*plain).pow(2).sum(), plain[:4])
        for a, b in zip(gradients, expected, strict=True):
            assert torch.allclose(a, b, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("which", ["layer", "stack"])
def test_nothing_is_compiled_again_for_other_lengths(which: str) -> None:
    def stack(x: Tensor, offsets: Tensor, max_seq_len: int) -> Tensor:
        return ht.stack(x, *LAYER.values(), offsets, max_seq_len, **DIMS)

    compiled = torch.compile(layer if which == "layer" else stack, fullgraph=True, dynamic=True, backend="aot_eager")

    def call(lengths: list[int]) -> Tensor:
        if which == "layer":
            return compiled(*inputs(lengths))
        return compiled(rand(sum(lengths), 16), offsets_of(lengths), max(lengths))

    call([3, 4])
    call([5, 2, 7])
    with torch._dynamo.config.patch(error_on_recompile=True):
        for n in range(2, 52):
            assert call([n % 9 + 1] * (n % 5 + 2)).isfinite().all()


def test_the_stack_compiles_to_what_it_gives_without() -> None:
    offsets, x = offsets_of([3, 4]), rand(7, 16)

    def stack(x: Tensor, offsets: Tensor, max_seq_len: int) -> Tensor:
        return ht.stack(x * 2, *LAYER.values(), offsets, max_seq_len, **DIMS) + 1

    compiled = torch.compile(stack, fullgraph=True, dynamic=True, backend="aot_eager")
    assert torch.equal(compiled(x, offsets, 4), stack(x, offsets, 4))


def test_results_that_are_written_in_place_compile() -> None:
    def call(x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        ht.layer_norm_out(x, out=out)
        return out + 1

    x = rand(5, 8)
    compiled = torch.compile(call, fullgraph=True, dynamic=True, backend="aot_eager")
    assert torch.equal(compiled(x), call(x))


def test_a_module_is_exported_with_free_lengths() -> None:
    class Stack(torch.nn.Module):
        def forward(self, x: Tensor, offsets: Tensor) -> Tensor:
            return ht.stack(x, *LAYER.values(), offsets, 8, **DIMS)

    free = torch.export.Dim.DYNAMIC
    program = torch.export.export(Stack(), (rand(7, 16), offsets_of([3, 4])), dynamic_shapes=({0: free}, {0: free}))
    x, offsets = rand(11, 16), offsets_of([3, 4, 4])
    assert torch.equal(program.module()(x, offsets), Stack()(x, offsets))
    assert any("hstujit.stack" in str(node.target) for node in program.graph.nodes)
