#!/usr/bin/env python3
"""addmm and fp8_gemm beside torch's, by turns in one run.

    tools/rivals/products_against_torch.py build/libhstujit.so [--rounds 30] [--fused 65536x512x2048 ...] [--shapes ...]

Shapes are m x k x n, of normal data. First those of --fused, in bf16: addmm with a bias row and SiLU in one call, and
torch.addmm with torch.nn.functional.silu behind it. Then those of --shapes, in E4M3 with a scale for each row of either
operand and results in bf16: fp8_gemm and torch._scaled_mm, with sums that are exact every 128 k on our side and the
slow ones of torch, then with fast sums on both. Each line: microseconds between two events around the calls (medians;
256 MB are written before each, outside the events), the relative error of some rows from all over either's results,
beside a product of the same operands in double precision, and our rate over torch's. Geometric means stand last. Needs
torch with CUDA.
"""
import ctypes
import math
import statistics

import torch
from side_by_side import (ACTIVATION_SILU, FP8_ROW, AddmmArgs, ProductArgs, Tensor, arguments, begin, milliseconds)

FUSED = [f"{m}x{kn}" for kn in ["512x2048", "1024x4096"] for m in [65536, 262144]]
SHAPES = [f"{m}x{kn}" for kn in ["512x2048", "1024x4096", "512x512", "256x1024"]
          for m in [1024, 8192, 65536, 262144]] + ["8192x8192x8192"]
LARGEST, CHECKED_ROWS, BOUND = 448.0, 4096, 1e-2


def some_rows(t):
    return t[::max(1, len(t) // CHECKED_ROWS)]


def error(got, want):
    return ((some_rows(got).double() - want).norm() / want.norm()).item()


def quantised(x):
    """E4M3 values and a descale for each row."""
    descale = x.abs().amax(1) / LARGEST
    return (x / descale[:, None]).to(torch.float8_e4m3fn), descale


def report(what, calls, results, want, rounds, flush):
    """Prints a line; our rate over torch's, or None where results are wrong."""
    us = {name: ms * 1e3 for name, ms in milliseconds(calls, rounds, flush).items()}
    errors = {name: error(result(), want) for name, result in results.items()}
    ratio = us["torch"] / us["hstujit"]
    print(f"{what:28s}", *(f"{name} {us[name]:8.1f} us (error {errors[name]:.1e})" for name in calls),
          f"{ratio:.2f} of torch's rate", flush=True)
    return ratio if all(e < BOUND for e in errors.values()) else None


def compare_fused(library, shape, rounds, flush):
    m, k, n = shape
    device, none = {"device": "cuda", "dtype": torch.bfloat16}, Tensor()
    x, bias = torch.randn(m, k, **device), torch.randn(n, **device)
    w = torch.randn(k, n, **device) / math.sqrt(k)
    z = torch.full((m, n), float("nan"), **device)
    ours = library.call("hstu_addmm", AddmmArgs(
        ctypes.sizeof(AddmmArgs), Tensor.of(x), Tensor.of(w), Tensor.of(bias), Tensor.of(z), ACTIVATION_SILU, 0, 0,
        none, none, none))

    def theirs():
        return torch.nn.functional.silu(torch.addmm(bias, x, w))

    want = torch.nn.functional.silu(some_rows(x).double() @ w.double() + bias.double())
    return report(f"{m}x{k}x{n} bias, SiLU", {"hstujit": ours, "torch": theirs},
                  {"hstujit": lambda: z, "torch": theirs}, want, rounds, flush)


def compare_fp8(library, shape, rounds, flush):
    """With exact and with fast sums."""
    m, k, n = shape
    none = Tensor()
    a, a_descale = quantised(torch.randn(m, k, device="cuda"))
    b, b_descale = quantised(torch.randn(n, k, device="cuda") / math.sqrt(k))
    out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    want = some_rows(a).float().double() @ b.float().double().t()
    want *= some_rows(a_descale).double()[:, None] * b_descale.double()
    ratios = []
    for fast in [False, True]:
        out.fill_(float("nan"))
        ours = library.call("hstu_fp8_gemm", ProductArgs(
            ctypes.sizeof(ProductArgs), Tensor.of(a), Tensor.of(b), Tensor.of(a_descale), Tensor.of(b_descale), none,
            Tensor.of(out), FP8_ROW, FP8_ROW, int(fast), 0, 0, none, none, none))

        def theirs(fast=fast):
            return torch._scaled_mm(a, b.t(), scale_a=a_descale[:, None], scale_b=b_descale[None, :],
                                    out_dtype=torch.bfloat16, use_fast_accum=fast)

        ratios.append(report(f"{m}x{k}x{n} e4m3, {'fast' if fast else 'exact'}", {"hstujit": ours, "torch": theirs},
                             {"hstujit": lambda: out, "torch": theirs}, want, rounds, flush))
    return ratios


def main():
    parser = arguments(__doc__, SHAPES, rounds=30)
    parser.add_argument("--fused", nargs="+", default=FUSED)
    options, library, flush = begin(parser)
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.fused]
    fused = [compare_fused(library, shape, options.rounds, flush) for shape in shapes]
    exact, fast = zip(*(compare_fp8(library, shape, options.rounds, flush) for shape in options.shapes))
    if None in (*fused, *exact, *fast):
        raise SystemExit("the results differ")
    means = [f"{name} {statistics.geometric_mean(ratios):.2f} (least {min(ratios):.2f})"
             for name, ratios in [("bias and SiLU", fused), ("e4m3 exact", exact), ("e4m3 fast", fast)]]
    print(f"geometric means: {', '.join(means)} of torch's rate")


if __name__ == "__main__":
    main()
