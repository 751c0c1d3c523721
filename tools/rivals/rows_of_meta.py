#!/usr/bin/env python3
"""Meta's Triton operators of rows, and torch's, by the rules of `hstu-tune bench`: beside its figures of the same card.

    tools/rivals/rows_of_meta.py ../generative-recommenders

bf16, random data. Each line: microseconds between two events around a call (medians of 30; 512 MB are written before
each, outside the events, which also hides the host's time), and GB/s read and written. Triton tunes first, the products
half a minute. Needs torch with CUDA and a checkout of github.com/meta-recsys/generative-recommenders.
"""
import argparse
import statistics
import sys

import torch

ROWS = [(4096, 512), (4096, 1024), (65536, 128), (65536, 512), (524288, 512)]
DIM = 512


def microseconds(call, flush, rounds=30, warmups=5):
    """Four rounds are queued at a time: no event waits for the host, and behind more a short launch takes longer."""
    with torch.no_grad():
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(rounds + warmups)]
        for i, (begin, end) in enumerate(events):
            flush.zero_()
            begin.record()
            call()
            end.record()
            if i % 4 == 3:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in events[warmups:]) * 1e3


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def lengths(count, least, most, seed):
    """Evenly spread, shuffled: figures.json's "linear"."""
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return torch.linspace(least, most, count).round().long()[order]


def offsets(of):
    return torch.nn.functional.pad(torch.cumsum(of, 0), (1, 0)).cuda()


def norms(show, meta):
    for rows, dim in ROWS:
        x, weight, bias = random(rows, dim), random(dim), random(dim)
        y, moved, name = torch.empty_like(x), 4 * rows * dim, f"{rows} x {dim}"
        show(f"layer_norm {name}, Triton", moved, lambda: meta.triton_layer_norm(x, weight, bias, 1e-5))
        show(f"layer_norm {name}, torch", moved,
             lambda: torch.nn.functional.layer_norm(x, (dim,), weight, bias, 1e-5))
        show(f"copy {name}, torch", moved, lambda: y.copy_(x))
        if dim == DIM and rows >= 65536:
            show(f"swish_layer_norm {name}, Triton", moved,
                 lambda: meta.triton_swish_layer_norm(x, [dim], weight, bias, 1e-5))
            show(f"rms_norm {name}, Triton", moved, lambda: meta.triton_rms_norm(x, weight, 1e-5))
    show(f"dropout {name}, torch", moved, lambda: torch.nn.functional.dropout(x, 0.3, True))
    show(f"softmax {name}, torch", moved, lambda: torch.softmax(x, -1))


def sequences(show, position, jagged):
    of = lengths(512, 103, 1536, 1)
    seq_offsets, rows, longest = offsets(of), int(of.sum()), int(of.max())
    moved = 4 * rows * DIM
    x, positions, ages = random(rows, DIM), random(2048, DIM), random(2049, DIM)
    stamps = torch.linspace(0, 755000000, rows, dtype=torch.float64).long().cuda()
    targets, counts = torch.randint(1, 21, (512,), device="cuda"), of.cuda()

    def embeddings(x):
        return position.triton_add_timestamp_positional_embeddings(x, seq_offsets, positions, ages, stamps, longest, 0,
                                                                   counts, targets, False, "sqrt")

    show("timestamps, the whole operator, Triton", moved, lambda: embeddings(x * 22.6))
    show("timestamps, its kernel alone, Triton", moved, lambda: embeddings(x))
    dense, bias = random(512, DIM, DIM), random(512, DIM)
    show("jagged_dense_bmm_broadcast_add, Triton", moved,
         lambda: jagged.triton_jagged_dense_bmm_add(longest, seq_offsets, x, dense, bias), 2 * rows * DIM * DIM)
    show("jagged_dense_broadcast_add, Triton", moved,
         lambda: jagged.triton_jagged_dense_broadcast_add(longest, seq_offsets, x, bias))


def copies(show, jagged, name, left, right):
    of_left, of_right, most = offsets(left), offsets(right), int(left.max() + right.max())
    a, b = random(int(left.sum()), DIM), random(int(right.sum()), DIM)
    moved = 4 * (len(a) + len(b)) * DIM
    show(f"concat_2d_jagged {name}, Triton", moved,
         lambda: jagged.triton_concat_2D_jagged(most, a, b, of_left, of_right))
    both = jagged.triton_concat_2D_jagged(most, a, b, of_left, of_right)
    show(f"split_2d_jagged {name}, Triton", moved,
         lambda: jagged.triton_split_2D_jagged(both, most, of_left, of_right))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    sys.path.insert(0, parser.parse_args().checkout)
    from generative_recommenders.ops.triton import triton_jagged, triton_layer_norm, triton_position

    torch.manual_seed(1)
    flush = torch.empty(512_000_000, dtype=torch.uint8, device="cuda")

    def show(name, moved, call, operations=0):
        us = microseconds(call, flush)
        rate = f"{operations / us / 1e6:7.0f} TFLOP/s" if operations else ""
        print(f"{name:48} {us:8.2f} us {moved / us / 1e3:6.0f} GB/s {rate}", flush=True)

    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    norms(show, triton_layer_norm)
    sequences(show, triton_position, triton_jagged)
    copies(show, triton_jagged, "458752 x 512", lengths(512, 103, 1536, 1), lengths(512, 0, 153, 2))
    copies(show, triton_jagged, "32 short sequences", lengths(32, 20, 60, 1), lengths(32, 4, 12, 2))


if __name__ == "__main__":
    main()
