#!/usr/bin/env python3
"""layer_norm to FP8 and fp8_gemm beside the chain that torch and Triton make of it, by turns in one run.

    tools/rivals/fp8_chain_against_torch.py build/libhstujit.so [--rounds 30] [--shapes 65536x512x2048 ...]

Shapes are m x k x n: m bf16 rows of k values are normed, quantised to E4M3 with a scale a row and multiplied by n rows
of weights that were quantised before. The rival makes three calls: torch.nn.functional.layer_norm, a Triton kernel that
quantises (the fastest of those with the numbers of rows and warps below), torch._scaled_mm with a scale a row of either
operand. Each line, first with sums that are exact every 128 k on our side and the slow ones of torch, then with fast
sums on both: microseconds between two events around the calls (medians; 256 MB are written before each, outside the
events), our rate over the rival's, and the relative error of either's results, quantisation included, beside a product
in double precision. The last line has geometric means. Needs torch with CUDA.
"""
import ctypes
import math
import statistics

import torch
import triton
import triton.language as tl
from side_by_side import FP8_ROW, LayerNormArgs, ProductArgs, Tensor, arguments, begin, milliseconds

SHAPES = [f"{m}x{kn}" for kn in ["512x2048", "1024x4096", "512x512", "256x1024"] for m in [65536, 262144]]
ROWS, WARPS = [1, 2, 4, 8, 16], [1, 2, 4, 8]
LARGEST, EPS = 448.0, 1e-5
CHECKED_ROWS = 4096


@triton.jit
def quantise_rows(x, q, descale, rows, LARGEST: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr,
                  ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    at = row[:, None].to(tl.int64) * DIM + column[None, :]
    there = (row[:, None] < rows) & (column[None, :] < DIM)
    values = tl.load(x + at, mask=there, other=0).to(tl.float32)
    scale = tl.max(tl.abs(values), 1) / LARGEST
    tl.store(q + at, (values / scale[:, None]).to(tl.float8e4nv), mask=there)
    tl.store(descale + row, scale, mask=row < rows)


class Operands:
    def __init__(self, m, k, n):
        device = {"device": "cuda", "dtype": torch.bfloat16}
        self.x, self.weight, self.bias = (torch.randn(*shape, **device) for shape in [(m, k), (k,), (k,)])
        w = torch.randn(n, k, **device).float() / math.sqrt(k)
        self.w_descale = w.abs().amax(1) / LARGEST
        self.unquantised_w, self.w = w, (w / self.w_descale[:, None]).to(torch.float8_e4m3fn)

    def normed(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[1:], self.weight.to(x.dtype), self.bias.to(x.dtype), EPS)


class Chain:
    """What one side keeps between its calls."""

    def __init__(self, operands):
        m, n = operands.x.shape[0], operands.w.shape[0]
        self.operands = operands
        self.q = torch.empty_like(operands.x, dtype=torch.float8_e4m3fn)
        self.descale = torch.empty(m, device="cuda")
        self.y = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)

    def error(self, call):
        """Of some rows from all over the result."""
        self.y.fill_(float("nan"))
        call()
        o, step = self.operands, max(1, len(self.y) // CHECKED_ROWS)
        want = o.normed(o.x[::step].double()) @ o.unquantised_w.double().t()
        return ((self.y[::step].double() - want).norm() / want.norm()).item()


class Ours(Chain):
    def call(self, library, fast):
        o, none = self.operands, Tensor()
        norm = library.call("hstu_layer_norm", LayerNormArgs(
            ctypes.sizeof(LayerNormArgs), Tensor.of(o.x), Tensor.of(o.weight), Tensor.of(o.bias), Tensor.of(self.q),
            EPS, FP8_ROW, Tensor.of(self.descale)))
        product = library.call("hstu_fp8_gemm", ProductArgs(
            ctypes.sizeof(ProductArgs), Tensor.of(self.q), Tensor.of(o.w), Tensor.of(self.descale),
            Tensor.of(o.w_descale), none, Tensor.of(self.y), FP8_ROW, FP8_ROW, int(fast), 0, 0, none, none, none))

        def both():
            norm()
            product()

        return both


class Theirs(Chain):
    def quantiser(self, rows_each, warps):
        m, k = self.operands.x.shape
        grid, block = (triton.cdiv(m, rows_each),), triton.next_power_of_2(k)
        return lambda x: quantise_rows[grid](x, self.q, self.descale, m, LARGEST, k, block, rows_each,
                                             num_warps=warps)

    def fastest_quantiser(self, flush):
        k, x = self.operands.x.shape[1], self.operands.x
        tried = {(r, w): self.quantiser(r, w) for r in ROWS for w in WARPS if r * k <= 8192}
        ms = milliseconds({key: lambda call=call: call(x) for key, call in tried.items()}, 10, flush)
        return tried[min(ms, key=ms.get)]

    def call(self, quantise, fast):
        o = self.operands

        def three():
            quantise(o.normed(o.x))
            torch._scaled_mm(self.q, o.w.t(), scale_a=self.descale[:, None], scale_b=o.w_descale[None, :],
                             out_dtype=torch.bfloat16, use_fast_accum=fast, out=self.y)

        return three


def compare(library, shape, rounds, flush):
    """Our rate over the rival's, with exact and with fast sums; None where results are wrong."""
    operands = Operands(*shape)
    ours, theirs = Ours(operands), Theirs(operands)
    quantise = theirs.fastest_quantiser(flush)
    calls = {(name, fast): call for fast in [False, True] for name, call in
             [("hstujit", ours.call(library, fast)), ("torch", theirs.call(quantise, fast))]}
    us = {key: ms * 1e3 for key, ms in milliseconds(calls, rounds, flush).items()}
    ratios, right = [], True
    for fast in [False, True]:
        errors = {"hstujit": ours.error(calls["hstujit", fast]), "torch": theirs.error(calls["torch", fast])}
        right = right and errors["hstujit"] < 0.05
        ratios.append(us["torch", fast] / us["hstujit", fast])
        print(f"{'x'.join(map(str, shape)):18s} {'fast' if fast else 'exact'}:",
              *(f"{name} {us[name, fast]:.1f} us (error {errors[name]:.1e})" for name in errors),
              f"{ratios[-1]:.2f} of the rival's rate", flush=True)
    return ratios if right else None


def main():
    options, library, flush = begin(arguments(__doc__, SHAPES, rounds=30))
    print("triton", triton.__version__)
    compared = [compare(library, shape, options.rounds, flush) for shape in options.shapes]
    if None in compared:
        raise SystemExit("the results differ")
    exact, fast = (statistics.geometric_mean(ratios) for ratios in zip(*compared))
    print(f"geometric means: exact {exact:.2f}, fast {fast:.2f} of the rival's rate")


if __name__ == "__main__":
    main()
