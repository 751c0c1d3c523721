"""One call or more of every operator, with plain PyTorch that says what comes out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hstujit.enums import Activation, Fp8Scaling, Mask

E4M3 = torch.float8_e4m3fn


def rand(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal numbers, the same each time."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=dtype)


@dataclass
class Sample:
    """A call of torch.ops.hstujit.<op>; `expected` gives what it returns, or None for what only its neighbours prove."""

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    expected: Callable[[], Any] | None = None
    tolerance: float = 2e-5
    name: str = ""


OFFSETS = torch.tensor([0, 3, 3, 7, 9])  # one sequence is empty
BATCH, TOTAL, MAX_LEN = 4, 9, 4
LENGTHS = OFFSETS.diff()


def sequences() -> list[slice]:
    """The rows of each sequence."""
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(OFFSETS)]


def attention(q: Tensor, k: Tensor, v: Tensor, *, divisor: float = MAX_LEN, full: bool = False, softmax: int = 0) -> Tensor:
    """Causal attention of jagged rows, the plain way."""
    out = torch.zeros(q.size(0), q.size(1), v.size(2), dtype=q.dtype)
    group = q.size(1) // k.size(1)
    for rows in sequences():
        n = rows.stop - rows.start
        sees = torch.ones(n, n) if full else torch.ones(n, n).tril()
        for head in range(q.size(1)):
            s = q[rows, head] @ k[rows, head // group].T / q.size(2) ** 0.5
            weights = F.silu(s) * sees / divisor
            if head < softmax:
                weights = s.masked_fill(sees == 0, -torch.inf).softmax(-1)
            out[rows, head] = weights @ v[rows, head // group]
    return out


def rms(x: Tensor, w: Tensor | float = 1.0, eps: float = 1e-5) -> Tensor:
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * w


def rotate(x: Tensor, cosine: Tensor, sine: Tensor, head: int) -> Tensor:
    n = x.view(*x.shape[:2], -1, head)
    a, b = n[..., : head // 2], n[..., head // 2 :]
    c, z = (t[:, None, : head // 2] for t in (cosine, sine))
    return torch.cat([a * c - b * z, b * c + a * z], -1).flatten(2)


def groups(x: Tensor, w: Tensor, b: Tensor, count: int) -> Tensor:
    return F.group_norm(x.double(), count).float() * w.repeat_interleave(x.size(1) // count) + b.repeat_interleave(
        x.size(1) // count
    )


def moments_of(x: Tensor, parts: int = 1) -> Tensor:
    p = x.view(x.size(0), parts, -1)
    mean = p.mean(-1)
    return torch.stack([mean, (p - mean[..., None]).pow(2).sum(-1)], -1)


def quantised(x: Tensor) -> tuple[Tensor, Tensor]:
    """Per row."""
    descale = x.abs().amax(1) / 448
    return (x / descale[:, None]).to(E4M3), descale


def dense_of(values: Tensor, max_len: int = MAX_LEN, padding: float = 0.0) -> Tensor:
    out = torch.full((BATCH, max_len, values.size(1)), padding)
    for b, rows in enumerate(sequences()):
        n = min(rows.stop - rows.start, max_len)
        out[b, :n] = values[rows][:n]
    return out


def stack_of(layers: dict[str, list[Tensor]], x: Tensor) -> Tensor:
    for i in range(len(layers["norm_weight"])):
        each = {name: tensors[i] for name, tensors in layers.items()}
        uvqk = F.layer_norm(x, x.shape[1:], each["norm_weight"], each["norm_bias"], 1e-6) @ each["uvqk_weight"]
        u, v, q, k = (uvqk + each["uvqk_bias"]).split([8, 8, 8, 8], 1)
        u = F.silu(u)
        attn = attention(*(t.reshape(TOTAL, 2, 4) for t in (q, k, v))).flatten(1)
        normed = F.layer_norm(attn, (8,), each["output_norm_weight"], each["output_norm_bias"], 1e-6)
        x = x + torch.cat([u, attn, u * normed], 1) @ each["output_weight"]
    return x


X, W, B = rand(TOTAL, 16), rand(16), rand(16, seed=1)
Q, K, V = (rand(TOTAL, 2, 8, seed=s) for s in range(3))
WIDE = rand(TOTAL, 40)[:, 3:19]  # rows that are not contiguous
X3 = rand(2, 3, 16)
COSINE, SINE = rand(3, 8, seed=5), rand(3, 8, seed=6)
WEIGHT, GATE, UP = rand(16, 12), rand(16, 12, seed=1), rand(16, 12, seed=2)
FP8_X, X_DESCALE = quantised(X)
FP8_W, W_DESCALE = quantised(rand(12, 16))
TABLE, TIME_TABLE = rand(6, 16), rand(5, 16, seed=3)
TIMES = torch.tensor([1, 70, 500, 9, 10, 4000, 4001, 3, 90])
MIXED = torch.arange(20, dtype=torch.int16)
LAYER = {
    "norm_weight": [rand(16), rand(16, seed=1)],
    "norm_bias": [rand(16, seed=2), rand(16, seed=3)],
    "uvqk_weight": [rand(16, 32) / 4, rand(16, 32, seed=1) / 4],
    "uvqk_bias": [rand(32), rand(32, seed=1)],
    "output_norm_weight": [rand(8), rand(8, seed=1)],
    "output_norm_bias": [rand(8, seed=2), rand(8, seed=3)],
    "output_weight": [rand(24, 16) / 4, rand(24, 16, seed=1) / 4],
}
DIMS = {"num_heads": 2, "attn_dim": 4, "hidden_dim": 4}
JOINED = [slice(0, 5), slice(5, 6), slice(6, 12), slice(12, 15)]
RIGHT_LENGTHS = torch.tensor([2, 1, 2, 1])
RIGHT_OFFSETS = torch.tensor([0, 2, 3, 5, 6])


def joined(left: Tensor, right: Tensor) -> Tensor:
    parts = []
    for b, rows in enumerate(sequences()):
        parts += [left[rows], right[RIGHT_OFFSETS[b] : RIGHT_OFFSETS[b + 1]]]
    return torch.cat(parts)


def replaced(left: Tensor, right: Tensor) -> Tensor:
    out = left.clone()
    for b, rows in enumerate(sequences()):
        mine = right[RIGHT_OFFSETS[b] : RIGHT_OFFSETS[b + 1]]
        keep = min(len(mine), rows.stop - rows.start)
        out[rows.stop - keep : rows.stop] = mine[len(mine) - keep :]
    return out


def positions(x: Tensor) -> Tensor:
    targets = torch.tensor([1, 0, 2, 0])
    out = x.clone()
    for b, rows in enumerate(sequences()):
        n = rows.stop - rows.start
        for i in range(n):
            out[rows.start + i] += TABLE[min(i, n - int(targets[b]), len(TABLE) - 1)]
    return out


def times(x: Tensor) -> Tensor:
    out = x.clone()
    for rows in sequences():
        n = rows.stop - rows.start
        for i in range(n):
            age = max(float(TIMES[rows.stop - 1] - TIMES[rows.start + i]), 1e-6)
            bucket = min(int((age / 60) ** 0.5), len(TIME_TABLE) - 1)
            out[rows.start + i] += TABLE[min(n - i, len(TABLE) - 1)] + TIME_TABLE[bucket]
    return out


def fp8_exact(x: Tensor, descale: Tensor) -> Tensor:
    return x.float() * descale[:, None]


TARGETS = torch.tensor([1, 0, 2, 0])
ATTENTION = (Q, K, V, OFFSETS, MAX_LEN)
PAGED = {"page_offsets": torch.tensor([0, 2, 3]), "page_ids": torch.tensor([2, 0, 1])}
CACHE = (rand(3, 4, 2, 8), rand(3, 4, 2, 8, seed=1))
PAGE_LENS = torch.tensor([2, 3])


def paged() -> Tensor:
    """The last 2 rows of each of two sequences against the cache: 6 rows of history in pages 2 and 0, 3 rows in page 1."""
    out = []
    for b, pages in enumerate(([2, 0], [1])):
        keys, values = (torch.cat([cache[p] for p in pages])[: 4 * (len(pages) - 1) + int(PAGE_LENS[b])] for cache in CACHE)
        n = len(keys)
        for i in range(2):
            q = Q[2 * b + i]
            sees = torch.arange(n) <= n - 2 + i
            w = F.silu(torch.einsum("hd,nhd->hn", q, keys) / 8**0.5) * sees / 6
            out.append(torch.einsum("hn,nhd->hd", w, values))
    return torch.stack(out)


def appended(cache: Tensor, rows: Tensor) -> Tensor:
    out = cache.clone()
    out[0, 0], out[0, 1], out[1, 1], out[1, 2] = rows
    return out


def norm_muls() -> Tensor:
    u = F.silu(X)
    return torch.cat([u, WIDE, u * F.layer_norm(WIDE, (16,), W, B)], 1)


def backward_of(f: Callable[..., Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    """Gradients of f at the inputs for a gradient of its result that is the first input's like."""
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    out = f(*leaves)
    return torch.autograd.grad(out, leaves, rand(*out.shape, seed=9))


def layer_norm(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.layer_norm(x, (16,), w, b)


DOUT = rand(TOTAL, 16, seed=9)
DQ = rand(TOTAL, 2, 8, seed=9)
EMPTY = torch.empty(0)
DENSE = rand(BATCH, 16, 12)
AMAX_X = rand(32, 32)
FP8_Q, FP8_K, FP8_V = ((t / t.abs().max() * 448).to(E4M3) for t in (Q, K, V))
SCALES = [t.abs().max()[None] / 448 for t in (Q, K, V)]


def truncated() -> tuple[Tensor, Tensor]:
    kept = [X[rows][-2:] for rows in sequences()]
    return torch.cat(kept), F.pad(torch.tensor([len(k) for k in kept]).cumsum(0), (1, 0))


def rel_bias() -> Tensor:
    n, stamps = 3, torch.tensor([[1, 5, 90], [4, 4, 7]])
    pos, tim = rand(1, 5), rand(1, 9, seed=1)
    out = torch.empty(2, 1, n, n)
    for b in range(2):
        for i in range(n):
            for j in range(n):
                d = float((stamps[b, min(i + 1, n - 1)] - stamps[b, j]).abs().clamp(min=1))
                bucket = min(int(torch.log(torch.tensor(d)) / 0.301), 8)
                out[b, 0, i, j] = pos[0, n - 1 + j - i] + tim[0, bucket]
    return out


def out(**results: tuple[int, ...]) -> dict[str, Tensor]:
    return {name: torch.full(shape, 7.0) for name, shape in results.items()}


SAMPLES = [
    # Norms
    Sample("layer_norm", (X, W, B), expected=lambda: layer_norm(X, W, B)),
    Sample("layer_norm", (WIDE, W, B), {"eps": 0.1}, lambda: F.layer_norm(WIDE, (16,), W, B, 0.1), name="of a view"),
    Sample("layer_norm", (X[:0], W, B), expected=lambda: X[:0], name="of no rows"),
    Sample("layer_norm", (X,), expected=lambda: F.layer_norm(X, (16,)), name="without weight"),
    Sample("layer_norm", (X.bfloat16(), W, B), expected=lambda: layer_norm(X.bfloat16().float(), W, B).bfloat16(),
           tolerance=1e-2, name="of bf16 with weights in f32"),
    Sample("layer_norm_out", (X, W, B), out(out=(TOTAL, 16)), lambda: (layer_norm(X, W, B),)),
    Sample("layer_norm_with_moments", (X, W, B), expected=lambda: (layer_norm(X, W, B), moments_of(X))),
    Sample("layer_norm_fp8", (X, W, B), {"out_dtype": E4M3}, lambda: quantised(layer_norm(X, W, B)), 0.07),
    Sample("layer_norm_backward", (DOUT, X, W, B), {"needed": [True, True, True]},
           lambda: backward_of(layer_norm, X, W, B)),
    Sample("layer_norm_backward", (DOUT, X, W, B), {"needed": [False, True, False]},
           lambda: (EMPTY, backward_of(layer_norm, X, W, B)[1], EMPTY), name="of the weight alone"),
    Sample("layer_norm_backward_out", (DOUT, X, W, B), {"accumulate": 1, **out(dweight=(16,), dbias=(16,))},
           lambda: tuple(7 + g for g in backward_of(layer_norm, X, W, B)[1:])),
    Sample("rms_norm", (X, W), {"activation": Activation.SILU}, lambda: F.silu(rms(X, W))),
    Sample("rms_norm_out", (X, W), out(out=(TOTAL, 16)), lambda: (rms(X, W),)),
    Sample("rms_norm_fp8", (X, W), {"out_dtype": E4M3, "scaling": Fp8Scaling.GROUP},
           lambda: (quantised(rms(X, W))[0], quantised(rms(X, W))[1][:, None]), 0.07),
    Sample("swish_layer_norm", (X, W, B), expected=lambda: X * layer_norm(X, W, B).sigmoid()),
    Sample("swish_layer_norm_out", (X, W, B), out(out=(TOTAL, 16)), lambda: (X * layer_norm(X, W, B).sigmoid(),)),
    Sample("group_norm", (X, W[:4], B[:4]), {"num_groups": 4}, lambda: groups(X, W[:4], B[:4], 4)),
    Sample("group_norm_out", (X, W[:4], B[:4]), {"num_groups": 4, **out(out=(TOTAL, 16))},
           lambda: (groups(X, W[:4], B[:4], 4),)),
    Sample("rms_norm_rope", (X3, W, COSINE, SINE), expected=lambda: rotate(rms(X3, W, 1e-6), COSINE, SINE, 8)),
    Sample("rms_norm_rope_out", (X3, W, COSINE, SINE), out(out=(2, 3, 16)),
           lambda: (rotate(rms(X3, W, 1e-6), COSINE, SINE, 8),)),
    Sample("rms_norm_rope_fp8", (X3, W, COSINE, SINE), {"out_dtype": E4M3},
           lambda: (quantised(rotate(rms(X3, W, 1e-6), COSINE, SINE, 8).flatten(0, 1))[0].view(2, 3, 16),
                    quantised(rotate(rms(X3, W, 1e-6), COSINE, SINE, 8).flatten(0, 1))[1]), 0.07),
    Sample("softmax", (X,), expected=lambda: X.softmax(1)),
    Sample("softmax", (X,), {"log": True}, lambda: X.log_softmax(1), name="logarithm"),
    Sample("dropout", (X, 0.0, 3), expected=lambda: X),
    Sample("norm_mul", (WIDE, X, W, B), {"activation": 1, "concat_u": True, "concat_x": True, "silu_u": True}, norm_muls),
    Sample("norm_mul", (WIDE, X, W, B), expected=lambda: X * layer_norm(WIDE, W, B), name="without segments"),
    Sample("norm_mul_out", (WIDE, X, W, B), out(out=(TOTAL, 16)), lambda: (X * layer_norm(WIDE, W, B),)),
    Sample("norm_mul_fp8", (WIDE, X, W, B), {"out_dtype": E4M3}, lambda: quantised(X * layer_norm(WIDE, W, B)), 0.07),
    # Products
    Sample("addmm", (X, WEIGHT, B[:12]), {"activation": Activation.GELU}, lambda: F.gelu(X @ WEIGHT + B[:12])),
    Sample("addmm", (WIDE, WEIGHT.T.contiguous().T, None, rand(TOTAL, 12)), expected=lambda: WIDE @ WEIGHT + rand(TOTAL, 12),
           name="of a transposed weight, with a residual"),
    Sample("addmm_out", (X, WEIGHT), out(out=(TOTAL, 12)), lambda: (X @ WEIGHT,)),
    Sample("addmm_fp8", (X, WEIGHT), {"out_descale": torch.tensor([0.1]), "out_dtype": E4M3},
           lambda: (X @ WEIGHT / 0.1).to(E4M3), 0.07),
    Sample("gated_mlp", (X, GATE, UP), expected=lambda: (X @ GATE) * F.silu(X @ UP)),
    Sample("gated_mlp_out", (X, GATE, UP), {"activate_gate": True, **out(out=(TOTAL, 12))},
           lambda: (F.silu(X @ GATE) * (X @ UP),)),
    Sample("gated_mlp_fp8", (X, GATE, UP), {"out_descale": torch.tensor([0.2]), "out_dtype": E4M3},
           lambda: ((X @ GATE) * F.silu(X @ UP) / 0.2).to(E4M3), 0.07),
    Sample("gated_addmm", (WIDE, X, moments_of(WIDE.contiguous(), 2), W, B, rand(48, 12), rand(TOTAL, 12)),
           expected=lambda: rand(TOTAL, 12) + torch.cat([X, WIDE, X * layer_norm(WIDE, W, B)], 1) @ rand(48, 12)),
    Sample("gated_addmm_out", (WIDE, X, moments_of(WIDE.contiguous(), 2), W, B, rand(48, 12)), out(out=(TOTAL, 12)),
           lambda: (torch.cat([X, WIDE, X * layer_norm(WIDE, W, B)], 1) @ rand(48, 12),)),
    Sample("norm_addmm", (X, W, B, WEIGHT, B[:12]), expected=lambda: layer_norm(X, W, B) @ WEIGHT + B[:12]),
    Sample("norm_addmm_out", (X, W, B, WEIGHT), out(out=(TOTAL, 12)), lambda: (layer_norm(X, W, B) @ WEIGHT,)),
    # FP8
    Sample("fp8_amax", (AMAX_X,), expected=lambda: F.pad(AMAX_X.view(64, 16).abs().amax(1), (0, 192))),
    Sample("quantize_fp8", (X,), {"scaling": Fp8Scaling.ROW, "out_dtype": E4M3}, lambda: quantised(X), 0.07),
    Sample("quantize_fp8", (X,), {"scaling": Fp8Scaling.BLOCK, "out_dtype": torch.float8_e5m2},
           lambda: ((X / (X.abs().max() / 57344)).to(torch.float8_e5m2), X.abs().max()[None, None] / 57344), 0.13,
           name="in blocks"),
    Sample("dequantize_fp8", (FP8_X, X_DESCALE), {"scaling": 1, "out_dtype": torch.float32},
           lambda: fp8_exact(FP8_X, X_DESCALE)),
    Sample("fp8_gemm", (FP8_X, FP8_W, X_DESCALE, W_DESCALE, B[:12]), {"out_dtype": torch.float32},
           lambda: fp8_exact(FP8_X, X_DESCALE) @ fp8_exact(FP8_W, W_DESCALE).T + B[:12]),
    Sample("fp8_gemm_out", (FP8_X, FP8_W, X_DESCALE, W_DESCALE), out(out=(TOTAL, 12)),
           lambda: (fp8_exact(FP8_X, X_DESCALE) @ fp8_exact(FP8_W, W_DESCALE).T,)),
    Sample("gated_fp8_gemm", (WIDE, X, moments_of(WIDE.contiguous(), 2), W, B, *quantised(rand(12, 48))),
           expected=lambda: torch.cat([X, WIDE, X * layer_norm(WIDE, W, B)], 1) @ fp8_exact(*quantised(rand(12, 48))).T,
           tolerance=0.1),
    Sample("gated_fp8_gemm_out", (WIDE, X, moments_of(WIDE.contiguous(), 2), W, B, *quantised(rand(12, 48))),
           out(out=(TOTAL, 12)),
           lambda: (torch.cat([X, WIDE, X * layer_norm(WIDE, W, B)], 1) @ fp8_exact(*quantised(rand(12, 48))).T,), 0.1),
    # Attention
    Sample("attention", ATTENTION, expected=lambda: attention(Q, K, V)),
    Sample("attention", ATTENTION, {"mask": Mask.FULL, "scaling_seqlen": 3}, lambda: attention(Q, K, V, divisor=3, full=True),
           name="full"),
    Sample("attention", (Q, K[:, :1], V[:, :1], OFFSETS.int(), MAX_LEN), {"num_targets": torch.zeros(BATCH, dtype=torch.int64)},
           lambda: attention(Q, K[:, :1], V[:, :1]), name="of grouped heads, with targets"),
    Sample("attention", (Q[:0], K[:0], V[:0], torch.zeros(1, dtype=torch.int64), 4), expected=lambda: Q[:0],
           name="of nothing"),
    Sample("attention_out", ATTENTION, out(out=(TOTAL, 2, 8)), lambda: (attention(Q, K, V),)),
    Sample("attention_with_lse", ATTENTION, {"num_softmax_heads": 1},
           lambda: (attention(Q, K, V, softmax=1), None)),
    Sample("attention_with_lse_out", ATTENTION, {"num_softmax_heads": 1, **out(out=(TOTAL, 2, 8), lse=(1, TOTAL))},
           lambda: (attention(Q, K, V, softmax=1), None)),
    Sample("attention_with_moments", ATTENTION,
           expected=lambda: (attention(Q, K, V), moments_of(attention(Q, K, V).flatten(1), 2))),
    Sample("attention_backward", (DQ, *ATTENTION), {"needed": [True, True, True, False, False]},
           lambda: (*backward_of(attention, Q, K, V), EMPTY, EMPTY)),
    Sample("attention_backward_out", (DQ, *ATTENTION), out(dk=(TOTAL, 2, 8)),
           lambda: backward_of(attention, Q, K, V)[1:2]),
    Sample("attention_fp8", (FP8_Q, FP8_K, FP8_V, *SCALES, OFFSETS, MAX_LEN), {"out_dtype": torch.bfloat16},
           lambda: attention(Q, K, V).bfloat16(), 0.1),
    Sample("attention_fp8_out", (FP8_Q, FP8_K, FP8_V, *SCALES, OFFSETS, MAX_LEN),
           {"out": torch.zeros(TOTAL, 2, 8, dtype=torch.bfloat16)}, lambda: (attention(Q, K, V).bfloat16(),), 0.1),
    Sample("delta_attention", (Q[[2, 6, 8]], K, V, OFFSETS, MAX_LEN),
           {"q_offsets": torch.tensor([0, 1, 1, 2, 3]), "max_q_len": 1}, lambda: attention(Q, K, V)[[2, 6, 8]]),
    Sample("delta_attention_out", (Q[[2, 6, 8]], K, V, OFFSETS, MAX_LEN),
           {"q_offsets": torch.tensor([0, 1, 1, 2, 3]), "max_q_len": 1, **out(out=(3, 2, 8))},
           lambda: (attention(Q, K, V)[[2, 6, 8]],)),
    Sample("paged_attention", (Q[:4], None, None, *CACHE, PAGE_LENS, 6), PAGED, paged),
    Sample("paged_attention_out", (Q[:4], None, None, *CACHE, PAGE_LENS, 6), {**PAGED, **out(out=(4, 2, 8))},
           lambda: (paged(),)),
    Sample("append_kv_cache", (K[:4], V[:4], *CACHE, PAGE_LENS), PAGED,
           lambda: (appended(CACHE[0], K[:4]), appended(CACHE[1], V[:4]))),
    Sample("flash_attention", (Q.transpose(0, 1)[None], K.transpose(0, 1)[None], V.transpose(0, 1)[None]), {"mask": Mask.FULL},
           lambda: F.scaled_dot_product_attention(*(t.transpose(0, 1)[None] for t in (Q, K, V)))),
    Sample("flash_attention", (Q, K, V), {"seq_offsets": OFFSETS, "max_seq_len": 4}, lambda: attention(Q, K, V, softmax=2),
           name="of sequences"),
    Sample("flash_attention_out", (Q, K, V), {"seq_offsets": OFFSETS, "max_seq_len": 4, **out(out=(TOTAL, 2, 8))},
           lambda: (attention(Q, K, V, softmax=2),)),
    Sample("flash_attention_with_lse", (Q, K, V), {"seq_offsets": OFFSETS, "max_seq_len": 4},
           lambda: (attention(Q, K, V, softmax=2), None)),
    Sample("build_sla_func", (torch.tensor([0, 4]), 4, 2, 1),
           expected=lambda: torch.tensor([[[1, 1, 1, 1], [1, 1, 1, 2], [1, 2, 3, 4]]], dtype=torch.int32)),
    Sample("rel_bias", (torch.tensor([[1, 5, 90], [4, 4, 7]]), rand(1, 5), rand(1, 9, seed=1)), expected=rel_bias),
    # Jagged tensors
    Sample("concat_2d_jagged", (X, rand(6, 16)), {"offsets_left": OFFSETS, "offsets_right": RIGHT_OFFSETS},
           lambda: joined(X, rand(6, 16))),
    Sample("concat_2d_jagged", (X, rand(6, 16)),
           {"offsets_left": OFFSETS, "offsets_right": RIGHT_OFFSETS, "is_replace": True},
           lambda: replaced(X, rand(6, 16)), name="replacing"),
    Sample("concat_2d_jagged", (rand(BATCH, 2, 16), X), {"offsets_right": OFFSETS, "max_len_left": 2},
           lambda: torch.cat([t for b, r in enumerate(sequences()) for t in (rand(BATCH, 2, 16)[b], X[r])]),
           name="with a dense part"),
    Sample("split_2d_jagged", (joined(X, rand(6, 16)), TOTAL), {"offsets_left": OFFSETS, "offsets_right": RIGHT_OFFSETS},
           lambda: (X, rand(6, 16))),
    Sample("jagged_dense_bmm_broadcast_add", (X, DENSE, OFFSETS, rand(BATCH, 12)),
           expected=lambda: torch.cat([X[r] @ DENSE[b] + rand(BATCH, 12)[b] for b, r in enumerate(sequences())])),
    Sample("jagged_dense_bmm_broadcast_add_out", (X, DENSE, OFFSETS), out(out=(TOTAL, 12)),
           lambda: (torch.cat([X[r] @ DENSE[b] for b, r in enumerate(sequences())]),)),
    Sample("jagged_dense_broadcast_add", (X, rand(BATCH, 16), OFFSETS),
           expected=lambda: X + rand(BATCH, 16).repeat_interleave(LENGTHS, 0)),
    Sample("jagged_reduce_sum", (X, OFFSETS), expected=lambda: torch.stack([X[r].sum(0) for r in sequences()])),
    Sample("jagged_reduce_sum", (X.half(), OFFSETS), {"out_dtype": torch.float32},
           lambda: torch.stack([X.half().float()[r].sum(0) for r in sequences()]), name="of f16 into f32"),
    Sample("jagged_to_padded_dense", (X, OFFSETS, 3, -1.0), expected=lambda: dense_of(X, 3, -1.0)),
    Sample("dense_to_jagged", (dense_of(X), OFFSETS, TOTAL), expected=lambda: X),
    Sample("jagged_truncate_history", (X, OFFSETS), {"keep": 2, "total": 6}, truncated),
    Sample("sort_kv_pairs", (torch.tensor([3, -1, 3, 0]), torch.tensor([1.0, 2.0, 3.0, 4.0])), {"descending": True},
           lambda: (torch.tensor([3, 3, 0, -1]), torch.tensor([1.0, 3.0, 4.0, 2.0]))),
    Sample("sort_by_length", (OFFSETS,), expected=lambda: torch.tensor([2, 0, 3, 1])),
    Sample("complete_cumsum", (LENGTHS,), expected=lambda: OFFSETS),
    Sample("complete_cumsum", (LENGTHS.int(),), {"out_dtype": torch.int64}, lambda: OFFSETS, name="of i32 into i64"),
    Sample("concat_1d_jagged", (LENGTHS, MIXED[:9], RIGHT_LENGTHS, MIXED[9:15]),
           expected=lambda: joined(MIXED[:9], MIXED[9:15])),
    Sample("split_1d_jagged", (LENGTHS, RIGHT_LENGTHS, joined(MIXED[:9], MIXED[9:15]), 9),
           expected=lambda: (MIXED[:9], MIXED[9:15])),
    Sample("jagged_remove_first_or_last_1d", (torch.tensor([2, 1, 3]), MIXED[:6]),
           expected=lambda: (MIXED[[1, 4, 5]], MIXED[[0, 3, 4]])),
    Sample("expand_1d_jagged_to_dense", (TIMES, OFFSETS, 3),
           expected=lambda: torch.tensor([[1, 70, 500], [0, 0, 0], [9, 10, 4000], [3, 90, 90]])),
    Sample("replace_last_n_with_jagged", (LENGTHS, X, RIGHT_LENGTHS, rand(6, 16)), expected=lambda: replaced(X, rand(6, 16))),
    Sample("jagged_transpose_1d", (MIXED[:9], OFFSETS, LENGTHS, 2, 2),
           expected=lambda: (MIXED[[0, 1, 2, 3, 4, 5, 6, 7, 8]], torch.tensor([0, 3, 7, 7, 9]), torch.tensor([3, 4, 0, 2]))),
    # Positions
    Sample("add_positional_embeddings", (X, TABLE, OFFSETS), {"num_targets": TARGETS}, lambda: positions(X)),
    Sample("add_timestamp_positional_embeddings", (X, TABLE, TIME_TABLE, OFFSETS, TIMES), expected=lambda: times(X)),
    # Chains
    Sample("compute_uvqk", (X, W, B, LAYER["uvqk_weight"][0], LAYER["uvqk_bias"][0]), DIMS,
           lambda: uvqk_of()),
    Sample("preprocess_and_attention", (X, W, B, LAYER["uvqk_weight"][0], LAYER["uvqk_bias"][0], OFFSETS, MAX_LEN), DIMS,
           lambda: (uvqk_of(), attention(*(uvqk_of()[:, a : a + 8].reshape(TOTAL, 2, 4) for a in (16, 24, 8))))),
    Sample("compute_output", (rand(TOTAL, 8), rand(TOTAL, 8, seed=1), X, W[:8], B[:8], LAYER["output_weight"][0]),
           {"concat_u": True, "concat_x": True}, lambda: output_of(X)),
    Sample("compute_output_out", (rand(TOTAL, 8), rand(TOTAL, 8, seed=1), None, W[:8], B[:8], LAYER["output_weight"][0]),
           {"concat_u": True, "concat_x": True, **out(out=(TOTAL, 16))}, lambda: (output_of(torch.zeros(())),)),
    Sample("stack", (X, *LAYER.values(), OFFSETS, MAX_LEN), {**DIMS, "concat_u": True, "concat_x": True},
           lambda: stack_of(LAYER, X), 1e-4),
    Sample("stack_out", (X, *LAYER.values(), OFFSETS, MAX_LEN),
           {**DIMS, "concat_u": True, "concat_x": True, **out(out=(TOTAL, 16))}, lambda: (stack_of(LAYER, X),), 1e-4),
    Sample("fp8_linear", (X, FP8_W, W_DESCALE, B[:12]), expected=lambda: X @ fp8_exact(FP8_W, W_DESCALE).T + B[:12],
           tolerance=0.1),
    Sample("fp8_linear_out", (X, FP8_W, W_DESCALE), out(out=(TOTAL, 12)), lambda: (X @ fp8_exact(FP8_W, W_DESCALE).T,), 0.1),
]  # fmt: skip


def uvqk_of() -> Tensor:
    out = F.layer_norm(X, (16,), W, B, 1e-6) @ LAYER["uvqk_weight"][0] + LAYER["uvqk_bias"][0]
    return torch.cat([F.silu(out[:, :8]), out[:, 8:]], 1)


def output_of(residual: Tensor) -> Tensor:
    attn, u = rand(TOTAL, 8), rand(TOTAL, 8, seed=1)
    normed = F.layer_norm(attn, (8,), W[:8], B[:8], 1e-6)
    return residual + torch.cat([u, attn, u * normed], 1) @ LAYER["output_weight"][0]


def fp8_stack() -> tuple[list[list[Tensor]], dict[str, list[Tensor]]]:
    """The stack's arguments with projections in FP8, and the layers that these stand for."""
    layers = dict(LAYER)
    packed: dict[str, list[Tensor]] = {}
    for name in ("uvqk", "output"):
        pairs = [quantised(w.T.contiguous()) for w in LAYER[f"{name}_weight"]]
        packed[f"{name}_weight"], packed[f"{name}_descale"] = [p[0] for p in pairs], [p[1] for p in pairs]
        layers[f"{name}_weight"] = [fp8_exact(*p).T for p in pairs]
    args = [
        LAYER["norm_weight"], LAYER["norm_bias"], packed["uvqk_weight"], packed["uvqk_descale"], LAYER["uvqk_bias"],
        LAYER["output_norm_weight"], LAYER["output_norm_bias"], packed["output_weight"], packed["output_descale"],
    ]  # fmt: skip
    return args, layers


SAMPLES += [
    Sample("stack_fp8", (X, *fp8_stack()[0], OFFSETS, MAX_LEN), {**DIMS, "concat_u": True, "concat_x": True},
           lambda: stack_of(fp8_stack()[1], X), 0.15),
    Sample("stack_fp8_out", (X, *fp8_stack()[0], OFFSETS, MAX_LEN),
           {**DIMS, "concat_u": True, "concat_x": True, **out(out=(TOTAL, 16))}, lambda: (stack_of(fp8_stack()[1], X),), 0.15),
]  # fmt: skip
