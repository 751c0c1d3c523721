#!/usr/bin/env python3
"""Writes an HSTU stack as a package that a C++ process runs without Python (AOTInductor), with free lengths.

export_stack.py OUTPUT.pt2 [cpu|cuda]
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor

import hstujit.torch as hstu

HEADS, DIM, EMBEDDING, LAYERS, MAX_LEN = 2, 32, 64, 2, 64


class Stack(torch.nn.Module):
    """Layers with weights of its own, as hstu_stack takes them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        wide = HEADS * DIM
        shapes = ((EMBEDDING,), (EMBEDDING,), (EMBEDDING, 4 * wide), (4 * wide,), (wide,), (wide,), (3 * wide, EMBEDDING))
        self.parameters_of = torch.nn.ModuleList(
            torch.nn.ParameterList(torch.nn.Parameter(torch.randn(*s) / 8, requires_grad=False) for _ in range(LAYERS))
            for s in shapes
        )

    def forward(self, x: Tensor, offsets: Tensor) -> Tensor:
        """x [total, EMBEDDING] and offsets [batch + 1] to [total, EMBEDDING]."""
        lists = [list(each) for each in self.parameters_of]
        options = {"num_heads": HEADS, "attn_dim": DIM, "hidden_dim": DIM, "concat_u": True, "concat_x": True}
        return hstu.stack(x, *lists, offsets, MAX_LEN, **options)


def main() -> None:
    """The command line."""
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    stack = Stack().to(device, dtype)
    inputs = (torch.ones(40, EMBEDDING, device=device, dtype=dtype), torch.tensor([0, 10, 40], device=device))
    free = torch.export.Dim.DYNAMIC
    with torch.no_grad():
        program = torch.export.export(stack, inputs, dynamic_shapes=({0: free}, {0: free}))
    torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
    print(f"{float(stack(*inputs).double().sum()):.9e}")


if __name__ == "__main__":
    main()
