#!/usr/bin/env python3
"""What a call costs on the host: medians of 10,000, beside torch's own. With a GPU also there.

measure.py [cpu|cuda]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import torch

import hstujit.torch as ht

CALLS = 10_000
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda" if torch.cuda.is_available() else "cpu"
DTYPE = torch.bfloat16 if DEVICE == "cuda" else torch.float32


def microseconds(call: Callable[[], object]) -> float:
    """The median of single calls; the device is let run dry now and then."""
    times = []
    for i in range(CALLS):
        if DEVICE == "cuda" and i % 100 == 0:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def main() -> None:
    """Prints one line a call."""
    x, w, b = (torch.randn(*shape, device=DEVICE, dtype=DTYPE) for shape in ((64, 512), (512,), (512,)))
    leaf = x.clone().requires_grad_()
    q = torch.randn(64, 4, 64, device=DEVICE, dtype=DTYPE)
    offsets = torch.tensor([0, 64], device=DEVICE)
    out = torch.empty_like(x)

    # An operator of the same schema that does nothing: what torch itself costs.
    empty = torch.library.Library("hstujit_empty", "DEF")
    empty.define("layer_norm(Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=0.0) -> Tensor")
    empty.impl("layer_norm", lambda x, weight=None, bias=None, eps=0.0: torch.empty_like(x), "CompositeExplicitAutograd")
    none = x[:0]
    none_leaf = leaf.detach()[:0].requires_grad_()
    calls: dict[str, Callable[[], object]] = {
        "torch.empty": lambda: torch.empty(64, 512, device=DEVICE, dtype=DTYPE),
        "an empty operator of the same schema, in Python": lambda: torch.ops.hstujit_empty.layer_norm.default(x, w, b),
        "torch.nn.functional.layer_norm": lambda: torch.nn.functional.layer_norm(x, (512,), w, b),
        "torch.ops.hstujit.layer_norm.default": lambda: torch.ops.hstujit.layer_norm.default(x, w, b),
        "torch.ops.hstujit.layer_norm.default of no rows": lambda: torch.ops.hstujit.layer_norm.default(none, w, b),
        "torch.ops.hstujit.layer_norm_out.default": lambda: torch.ops.hstujit.layer_norm_out.default(x, w, b, out=out),
        "hstujit.torch.layer_norm": lambda: ht.layer_norm(x, w, b),
        "the same, recording a gradient": lambda: ht.layer_norm(leaf, w, b),
        "hstujit.torch.layer_norm of no rows": lambda: ht.layer_norm(none, w, b),
        "hstujit.torch.layer_norm of no rows, recording a gradient": lambda: ht.layer_norm(none_leaf, w, b),
        "hstujit.torch.attention": lambda: ht.attention(q, q, q, offsets, 64),
    }
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if DEVICE == 'cuda' else 'cpu'}")
    for name, call in calls.items():
        call()
        print(f"{microseconds(call):8.2f} us  {name}")


if __name__ == "__main__":
    main()
