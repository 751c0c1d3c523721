#!/usr/bin/env python3
"""flash_attention beside torch's scaled_dot_product_attention on the same tensors, by turns in one run.

    tools/rivals/flash_against_torch.py build/libhstujit.so [--rounds 30] [--shapes 4x16384x16x128 ...] [--kinds full]

Shapes are batch x length x heads x head dim, bf16, random data. Each line: TFLOP/s of the library and of each torch
backend that takes the problem (medians; 256 MB are written before each call, outside the events), the library's rate
over that of the fastest backend, and the relative difference of the results. Needs torch with CUDA.
"""
import ctypes

import torch
from side_by_side import Tensor, arguments, begin, milliseconds
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
SHAPES = ["4x16384x16x128", "16x2048x16x128", "4x8192x16x128", "16x2048x32x64", "4x8192x32x64"]


class Args(ctypes.Structure):
    """hstu_flash_attention_args, include/hstujit/attention.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("q", Tensor), ("k", Tensor), ("v", Tensor), ("out", Tensor),
                ("lse", Tensor), ("seq_offsets", Tensor), ("scale", ctypes.c_float), ("mask", ctypes.c_int),
                ("max_seq_len", ctypes.c_int64)]


def our_attention(library, q, k, v, out, causal):
    none = Tensor()
    args = Args(ctypes.sizeof(Args), Tensor.of(q), Tensor.of(k), Tensor.of(v), Tensor.of(out), none, none, 0.0,
                0 if causal else 1, 0)
    return library.call("hstu_flash_attention", args)


def torch_attention(backend, q, k, v, causal):
    def call():
        with sdpa_kernel([backend]):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return call


def compare(library, shape, causal, rounds, flush):
    batch, length, heads, dim = shape
    q, k, v = (torch.randn(batch, heads, length, dim, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    out = torch.full_like(q, float("nan"))
    calls = {"hstujit": our_attention(library, q, k, v, out, causal)}
    want = None
    for name, backend in BACKENDS.items():
        call = torch_attention(backend, q, k, v, causal)
        try:
            want = call().float()
        except RuntimeError as error:  # torch was built without it, or it does not take the problem
            print(f"  {name}: {str(error).splitlines()[0][:100]}")
            continue
        calls[name] = call
    calls["hstujit"]()
    difference = ((out.float() - want).norm() / want.norm()).item() if want is not None else float("nan")
    pairs = length * (length + 1) / 2 if causal else length * length
    rates = {name: 4e-9 * batch * heads * dim * pairs / ms for name, ms in milliseconds(calls, rounds, flush).items()}
    best = max((rate for name, rate in rates.items() if name != "hstujit"), default=float("nan"))
    print(f"{str(shape):22s} {'causal' if causal else 'full':6s}", *(f"{n} {r:6.1f}" for n, r in rates.items()),
          f"TFLOP/s, {rates['hstujit'] / best:.2f} of torch's best, difference {difference:.1e}", flush=True)
    return difference < 1e-2


def main():
    parser = arguments(__doc__, SHAPES, rounds=30)
    parser.add_argument("--kinds", nargs="+", default=["causal", "full"], choices=["causal", "full"])
    options, library, flush = begin(parser)
    right = True
    for shape in options.shapes:
        for kind in options.kinds:
            right &= compare(library, shape, kind == "causal", options.rounds, flush)
    raise SystemExit(0 if right else "the results differ")


if __name__ == "__main__":
    main()
