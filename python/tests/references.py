"""HSTU in plain PyTorch, sequence by sequence, for the modules and the functions of other libraries."""

from __future__ import annotations

import itertools
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import hstujit.torch as ht


def refused(op: str) -> AbstractContextManager[Any]:
    """Expects an operator to refuse a gradient, as long as it has none."""
    if op in ht.autograd.__all__:
        return nullcontext()
    return pytest.raises(NotImplementedError, match=f"{op}: it records no gradient")


def offsets_of(lengths: list[int], dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.tensor([0, *itertools.accumulate(lengths)], dtype=dtype)


def rows_of(offsets: Tensor) -> list[slice]:
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(offsets)]


@dataclass
class Mask:
    """Which keys a row sees; `group` is that of targets, `left` and `right` a local window, `full` everything."""

    contexts: int | Tensor = 0
    max_attn_len: int = 0
    min_full: int = 0
    group: int = 1
    left: int | None = None
    right: int | None = None
    full: bool = False

    def sees(self, n: int, targets: int, at: int = 0) -> Tensor:
        """[n, n] bools of the sequence `at` of n rows."""
        i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
        if self.full:
            return torch.ones(n, n, dtype=torch.bool)
        if self.left is not None or self.right is not None:
            after = n if self.right is None or self.right < 0 else self.right
            before = n if self.left is None or self.left < 0 else self.left
            return (j <= i + after) & (j >= i - before)
        contexts = int(self.contexts[at]) if isinstance(self.contexts, Tensor) else self.contexts
        history = n - targets
        shift = max(contexts - 1, 0)
        row, key = ((k - shift).clamp(0, history - shift) for k in (i, j))
        distance = row - key
        near = distance > 0
        if self.max_attn_len > 0:
            near &= (distance <= self.max_attn_len) | (row >= history - shift - self.min_full if self.min_full else False)
        near |= i == j
        if self.group > 1:
            both = (i >= history) & (j >= history)
            near |= both & (j <= i) & ((i - history) // self.group == (j - history) // self.group)
        if contexts > 0:
            near |= (row == 0) & (j < history)
        return near


def mha(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    offsets: Tensor,
    *,
    alpha: float,
    divisor: float,
    num_targets: Tensor | None = None,
    mask: Mask | None = None,
    scale: Tensor | None = None,
    rab: Tensor | None = None,
    sees: list[Tensor] | None = None,
) -> Tensor:
    """Attention of whole sequences; `scale` [1] or [total] takes the place of 1 / divisor, `sees` that of the mask."""
    mask = mask or Mask()
    out = []
    for at, rows in enumerate(rows_of(offsets)):
        n = rows.stop - rows.start
        targets = 0 if num_targets is None else int(num_targets[at])
        heads = []
        for head in range(q.size(1)):
            kv = head // (q.size(1) // k.size(1))
            s = q[rows, head] @ k[rows, kv].T
            if rab is not None:
                s = s + rab[at, head % rab.size(1), :n, :n]
            allowed = sees[at] if sees is not None else mask.sees(n, targets, at)
            weights = F.silu(alpha * s) * allowed
            per_row = 1 / divisor if scale is None else (scale if scale.numel() == 1 else scale[rows][:, None])
            heads.append(weights * per_row @ v[rows, kv])
        out.append(torch.stack(heads, 1))
    return torch.cat(out)


def delta(q: Tensor, k: Tensor, v: Tensor, q_offsets: Tensor, offsets: Tensor, **options: object) -> Tensor:
    """The last rows of each sequence, out of the attention of all of them."""
    whole = torch.zeros(k.size(0), *q.shape[1:], dtype=q.dtype)
    for mine, rows in zip(rows_of(q_offsets), rows_of(offsets), strict=True):
        whole[rows.stop - (mine.stop - mine.start) : rows.stop] = q[mine]
    out = mha(whole, k, v, offsets, **options)  # type: ignore[arg-type]
    parts = [
        out[rows.stop - (mine.stop - mine.start) : rows.stop]
        for mine, rows in zip(rows_of(q_offsets), rows_of(offsets), strict=True)
    ]
    return torch.cat(parts)


def uvqk(
    x: Tensor, norm_weight: Tensor, norm_bias: Tensor, weight: Tensor, bias: Tensor, eps: float, dims: tuple[int, int, int]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """u, q, k and v."""
    heads, attn_dim, hidden_dim = dims
    normed = F.layer_norm(x, (x.size(1),), norm_weight, norm_bias, eps)
    u, v, q, k = (normed @ weight + bias).split([heads * hidden_dim] * 2 + [heads * attn_dim] * 2, 1)
    shape = (x.size(0), heads)
    return F.silu(u), q.reshape(*shape, attn_dim), k.reshape(*shape, attn_dim), v.reshape(*shape, hidden_dim)


def output(
    attn: Tensor,
    u: Tensor,
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    weight: Tensor,
    eps: float,
    *,
    groups: int = 0,
    activation: str = "none",
    concat_u: bool = True,
    concat_x: bool = True,
) -> Tensor:
    """residual + [u | attn | act(u) norm(attn)] w."""
    if groups:
        parts = attn.view(attn.size(0), groups, -1)
        normed = F.layer_norm(parts, parts.shape[-1:], eps=eps) * norm_weight[:, None] + norm_bias[:, None]
        y, concat_u, concat_x = u * normed.flatten(1), concat_u and concat_x, concat_u and concat_x
    else:
        act = {"none": lambda t: t, "silu": F.silu, "sigmoid": torch.sigmoid}[activation]
        y = act(u) * F.layer_norm(attn, (attn.size(1),), norm_weight, norm_bias, eps)
    return x + torch.cat([*([u] if concat_u else []), *([attn] if concat_x else []), y], 1) @ weight


def concat(left: list[Tensor], right: list[Tensor], prefix: int = 0) -> Tensor:
    """Sequences of rows, one from each list in turn; the first `prefix` rows of the right go first."""
    parts = []
    for a, b in zip(left, right, strict=True):
        parts += [b[:prefix], a, b[prefix:]]
    return torch.cat(parts)
