#!/usr/bin/env python3
"""layer_norm of small matrices beside Triton, torch, a copy and a launch that does nothing, by turns in one run.

    tools/rivals/norms_against_triton.py build/libhstujit.so [--rounds 100] [--shapes 4096x512 ...]

bf16, random data. Each line: microseconds between two events around each call (medians; 256 MB are written before each,
outside the events), GB/s of the library, and its rate over that of the fastest rival. Triton has a row-norm kernel
with every number of rows a program and warps that this script knows; its fastest counts. Needs torch with CUDA.
"""
import ctypes

import torch
import triton
import triton.language as tl
from side_by_side import LayerNormArgs, Tensor, arguments, begin, milliseconds

SHAPES = ["4096x512", "4096x1024", "65536x128"]
ROWS, WARPS = [1, 2, 4, 8, 16], [1, 2, 4, 8]


@triton.jit
def nothing(x):
    pass


@triton.jit
def norm_rows(x, weight, bias, y, rows, eps, DIM: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)
    at = row[:, None].to(tl.int64) * DIM + column[None, :]
    there = row[:, None] < rows
    values = tl.load(x + at, mask=there, other=0).to(tl.float32)
    centred = values - (tl.sum(values, 1) / DIM)[:, None]
    scale = tl.rsqrt(tl.sum(centred * centred, 1) / DIM + eps)
    normed = centred * scale[:, None] * tl.load(weight + column).to(tl.float32) + tl.load(bias + column).to(tl.float32)
    tl.store(y + at, normed.to(tl.bfloat16), mask=there)


def triton_norm(x, weight, bias, y, rows_each, warps):
    rows, dim = x.shape
    grid = (triton.cdiv(rows, rows_each),)
    return lambda: norm_rows[grid](x, weight, bias, y, rows, 1e-5, dim, rows_each, num_warps=warps)


def compare(library, shape, rounds, flush):
    rows, dim = shape
    x = torch.randn(rows, dim, device="cuda", dtype=torch.bfloat16)
    weight, bias = (torch.randn(dim, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    y, other = torch.full_like(x, float("nan")), torch.empty_like(x)
    args = LayerNormArgs(ctypes.sizeof(LayerNormArgs), Tensor.of(x), Tensor.of(weight), Tensor.of(bias), Tensor.of(y),
                         1e-5, 0, Tensor())
    ours = library.call("hstu_layer_norm", args)
    candidates = {(r, w): triton_norm(x, weight, bias, other, r, w) for r in ROWS for w in WARPS if r * dim <= 8192}
    tried = milliseconds(candidates, 10, flush)
    best = min(tried, key=tried.get)
    calls = {
        "hstujit": ours,
        "triton": candidates[best],
        "torch": lambda: torch.nn.functional.layer_norm(x, (dim,), weight, bias, 1e-5),
        "copy": lambda: other.copy_(x),
        "nothing": lambda: nothing[(1,)](x),
    }
    us = {name: ms * 1e3 for name, ms in milliseconds(calls, rounds, flush).items()}
    ours()
    want = torch.nn.functional.layer_norm(x.double(), (dim,), weight.double(), bias.double(), 1e-5)
    difference = ((y.double() - want).norm() / want.norm()).item()
    print(f"{rows} x {dim}:", *(f"{name} {t:.2f}" for name, t in us.items()), "us,",
          f"{4e-3 * rows * dim / us['hstujit']:.0f} GB/s, {min(us['triton'], us['torch']) / us['hstujit']:.2f} of the best",
          f"rival (Triton: {best[0]} rows, {best[1]} warps), difference {difference:.1e}", flush=True)
    return difference < 4e-3


def main():
    options, library, flush = begin(arguments(__doc__, SHAPES, rounds=100))
    print("triton", triton.__version__)
    right = [compare(library, shape, options.rounds, flush) for shape in options.shapes]
    raise SystemExit(0 if all(right) else "the results differ")


if __name__ == "__main__":
    main()
