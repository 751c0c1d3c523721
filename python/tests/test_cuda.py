"""What only a GPU shows: results of the kernels, streams, graphs, memory."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from samples import MAX_LEN, OFFSETS, SAMPLES, TOTAL, Sample, attention, rand
from test_operators import copied, error, operator, written
from torch import Tensor
from torch.utils._pytree import tree_map_only

import hstujit
import hstujit.torch as ht

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
F32 = 2e-3  # sums in f32 in another order, and products of tf32 in three parts


def on_gpu(values: Any) -> Any:
    return tree_map_only(Tensor, lambda t: t.cuda(), copied(values))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.op} {s.name}".strip().replace(" ", "_"))
def test_gives_what_the_reference_gives(sample: Sample) -> None:
    args, kwargs = copied(sample.args), copied(sample.kwargs)
    gpu_args, gpu_kwargs = on_gpu(sample.args), on_gpu(sample.kwargs)
    expected = operator(sample)(*args, **kwargs)
    try:
        found = operator(sample)(*gpu_args, **gpu_kwargs)
    except RuntimeError as refused:
        if "[HSTU_ERROR_UNSUPPORTED]" in str(refused):
            pytest.skip(str(refused))
        raise
    if expected is None:
        expected, found = written(sample, args, kwargs), written(sample, gpu_args, gpu_kwargs)
    pairs = [(found, expected)] if isinstance(found, Tensor) else list(zip(found, expected, strict=True))
    for ours, wanted in pairs:
        assert ours.is_cuda
        assert (ours.shape, ours.dtype) == (wanted.shape, wanted.dtype)
        assert error(ours.cpu(), wanted) <= max(F32, sample.tolerance)


def bf16(*shape: int, seed: int = 0) -> Tensor:
    return rand(*shape, seed=seed).bfloat16().cuda()


def test_columns_of_one_buffer_give_what_the_reference_gives() -> None:
    uvqk = bf16(TOTAL, 4 * 64)
    q, k, v = (uvqk[:, at : at + 64].view(TOTAL, 2, 32) for at in (128, 192, 64))
    found = ht.attention(q, k, v, OFFSETS.cuda(), MAX_LEN)
    wanted = attention(*(t.cpu().float() for t in (q, k, v)))
    assert error(found.cpu(), wanted) < 1e-2


def test_gradients_give_what_the_reference_gives() -> None:
    inputs = [rand(TOTAL, 2, 32, seed=s).bfloat16() for s in range(3)]
    dout = rand(TOTAL, 2, 32, seed=5).bfloat16()

    def gradients(device: str) -> list[Tensor]:
        leaves = [t.to(device).requires_grad_() for t in inputs]
        out = ht.attention(*leaves, OFFSETS.to(device), MAX_LEN)
        normed = ht.layer_norm(out.flatten(1), torch.ones(64, device=device), torch.zeros(64, device=device))
        return [g.cpu() for g in torch.autograd.grad(normed, leaves, dout.flatten(1).to(device))]

    for found, wanted in zip(gradients("cuda"), gradients("cpu"), strict=True):
        assert error(found, wanted) < 3e-2


def test_work_goes_to_the_current_stream() -> None:
    x = torch.zeros(1 << 20, 64, device="cuda")
    ht.layer_norm(x)  # its kernel is there
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        x += torch.arange(64, device="cuda")
        out = ht.layer_norm(x)
    assert not stream.query()  # the call did not wait
    stream.synchronize()
    assert torch.allclose(out[0], torch.nn.functional.layer_norm(x[0], (64,)), atol=1e-4)


def graph_inputs() -> tuple[Tensor, ...]:
    return (*(bf16(TOTAL, 2, 64, seed=s) for s in range(3)), OFFSETS.cuda())


def test_calls_are_captured_and_run_again() -> None:
    q, k, v, offsets = graph_inputs()
    ht.attention(q, k, v, offsets, MAX_LEN)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = ht.attention(q, k, v, offsets, MAX_LEN)
    q.copy_(bf16(TOTAL, 2, 64, seed=7))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, ht.attention(q, k, v, offsets, MAX_LEN))


def test_a_call_that_would_compile_while_captured_says_what_to_do() -> None:
    x = torch.ones(3, 24, device="cuda", dtype=torch.float16)
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(hstujit.Failed, match=r"hstujit\.warm") as caught, torch.cuda.graph(graph):
        ht.group_norm(x, num_groups=3)
    assert caught.value.status is hstujit.Status.STREAM_CAPTURING


def test_compiled_into_graphs_it_gives_the_same() -> None:
    def call(q: Tensor, k: Tensor, v: Tensor, offsets: Tensor) -> Tensor:
        return ht.attention(q * 2, k, v, offsets, MAX_LEN) + 1

    inputs = graph_inputs()
    compiled = torch.compile(call, fullgraph=True, mode="reduce-overhead")
    for _ in range(3):
        found = compiled(*inputs).clone()
    assert torch.equal(found, call(*inputs))


def test_workspaces_are_given_back() -> None:
    x, w, b = bf16(4096, 256), torch.ones(256, device="cuda"), torch.zeros(256, device="cuda")
    ht.layer_norm_backward(x, x, w, b, needed=[True, True, True])
    before = torch.cuda.memory_allocated()
    ht.layer_norm_backward(x, x, w, b, needed=[True, True, True])
    assert torch.cuda.memory_allocated() == before


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device")
def test_each_device_has_its_context() -> None:
    x = rand(5, 16)
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        out = ht.layer_norm(x.to(device))
        assert out.device == torch.device(device)
        assert error(out.cpu(), torch.nn.functional.layer_norm(x, (16,))) < F32
    assert 'device="cuda:1' in hstujit.metrics()
