"""alibaba/TorchEasyRec: tzrec/ops. See docs/switching/tzrec.md for every argument."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _stages
from .. import torch as ht
from .._stages import invalid, number
from ..enums import Mask
from . import generative_recommenders as meta
from .generative_recommenders import (
    addmm,
    jagged_dense_bmm_broadcast_add,
    layer_norm,
    split_2D_jagged,
    swish_layer_norm,
)

__all__ = [
    "add_positional_embeddings",
    "add_timestamp_positional_embeddings",
    "addmm",
    "build_sla_func_tensor",
    "concat_2D_jagged",
    "delta_hstu_mha",
    "hstu_compute_output",
    "hstu_compute_uqvk",
    "hstu_mha",
    "hstu_preprocess_and_attention",
    "jagged_dense_bmm_broadcast_add",
    "layer_norm",
    "rms_norm",
    "split_2D_jagged",
    "swish_layer_norm",
]


def _divisor(scaling_seqlen: int) -> int:
    """-1 means max_seq_len, which is 0 here."""
    return 0 if scaling_seqlen == -1 else scaling_seqlen


def _mask(
    attn_func: Tensor | None,
    num_targets: Tensor | None,
    max_attn_len: int,
    contextual_seq_len: int,
    min_full_attn_seq_len: int = 0,
) -> dict[str, Any]:
    """The arguments of attention; attn_func takes the place of the others, as in the source."""
    if attn_func is not None:
        return {"mask": Mask.INTERVALS, "intervals": attn_func}
    return {
        "num_targets": num_targets,
        "max_attn_len": max_attn_len,
        "contextual_seq_len": contextual_seq_len,
        "min_full_attn_seq_len": min_full_attn_seq_len,
    }


def hstu_mha(
    max_seq_len: int,
    alpha: float,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    seq_offsets: Tensor,
    causal: bool = True,
    dropout_pr: float = 0.0,
    training: bool = True,
    num_targets: Tensor | None = None,
    max_attn_len: int = 0,
    contextual_seq_len: int = 0,
    min_full_attn_seq_len: int = 0,
    sort_by_length: bool = False,
    kernel: object = None,
    enable_tma: bool = False,
    attn_func: Tensor | None = None,
    scaling_seqlen: int = -1,
) -> Tensor:
    """Attention: hstujit.torch.attention, [total, num_heads, head dim of v]."""
    meta.only_causal(causal)
    meta.no_dropout(dropout_pr, training)
    mask = _mask(attn_func, num_targets, max_attn_len, contextual_seq_len, min_full_attn_seq_len)
    divisor = _divisor(scaling_seqlen)
    return ht.attention(q, k, v, seq_offsets, max_seq_len, alpha=number(alpha), scaling_seqlen=divisor, **mask)


def delta_hstu_mha(
    max_seq_len: int,
    alpha: float,
    delta_q: Tensor,
    k: Tensor,
    v: Tensor,
    seq_offsets: Tensor,
    num_targets: Tensor | None = None,
    max_attn_len: int = 0,
    contextual_seq_len: int = 0,
    kernel: object = None,
    enable_tma: bool = False,
    scaling_seqlen: int = -1,
) -> Tensor:
    """Attention of the last rows of each sequence: hstujit.torch.delta_attention."""
    mask = _mask(None, num_targets, max_attn_len, contextual_seq_len)
    divisor = _divisor(scaling_seqlen)
    return ht.delta_attention(delta_q, k, v, seq_offsets, max_seq_len, alpha=number(alpha), scaling_seqlen=divisor, **mask)


def hstu_compute_uqvk(
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    norm_eps: float,
    num_heads: int,
    attn_dim: int,
    hidden_dim: int,
    uvqk_weight: Tensor,
    uvqk_bias: Tensor,
    kernel: object = None,
    recompute_normed_x_in_backward: bool = False,
    recompute_uvqk_in_backward: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Norm and projection: u with SiLU applied, then q, k and v by heads."""
    return meta.hstu_compute_uqvk(x, norm_weight, norm_bias, norm_eps, num_heads, attn_dim, hidden_dim, uvqk_weight, uvqk_bias)


def hstu_compute_output(
    attn: Tensor,
    u: Tensor,
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    norm_eps: float,
    output_weight: Tensor,
    num_heads: int,
    linear_dim: int,
    dropout_ratio: float,
    training: bool,
    concat_ux: bool,
    group_norm: bool,
    recompute_y_in_backward: bool,
    kernel: object = None,
) -> Tensor:
    """Norm, gate, projection and residual: [total, columns of x]."""
    return meta.hstu_compute_output(
        attn,
        u,
        x,
        norm_weight,
        norm_bias,
        norm_eps,
        output_weight,
        num_heads,
        linear_dim,
        dropout_ratio,
        training,
        concat_ux,
        concat_ux,
        "none",
        group_norm,
        recompute_y_in_backward,
    )


def hstu_preprocess_and_attention(
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    norm_eps: float,
    num_heads: int,
    attn_dim: int,
    hidden_dim: int,
    uvqk_weight: Tensor,
    uvqk_bias: Tensor,
    max_seq_len: int,
    seq_offsets: Tensor,
    attn_alpha: float,
    causal: bool,
    num_targets: Tensor | None,
    max_attn_len: int,
    contextual_seq_len: int,
    recompute_uvqk_in_backward: bool,
    recompute_normed_x_in_backward: bool,
    sort_by_length: bool,
    prefill: bool = False,
    kernel: object = None,
    enable_tma: bool = False,
    attn_func: Tensor | None = None,
    scaling_seqlen: int = -1,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Norm, projection and attention: u, attention [total, num_heads * hidden_dim], k and v.

    k and v are columns of one buffer, and are there whether prefill is set or not.
    """
    meta.only_causal(causal)
    mask = _mask(attn_func, num_targets, max_attn_len, contextual_seq_len)
    mask |= {"alpha": number(attn_alpha), "scaling_seqlen": _divisor(scaling_seqlen)}
    dims = (num_heads, attn_dim, hidden_dim)
    weights = (norm_weight, norm_bias, uvqk_weight, uvqk_bias)
    u, attn, k, v = _stages.preprocess_and_attention(x, *weights, norm_eps, dims, seq_offsets, max_seq_len, mask)
    return u, attn.flatten(1), k, v


def concat_2D_jagged(  # noqa: N802
    values_left: Tensor,
    values_right: Tensor,
    max_len_left: int,
    max_len_right: int,
    offsets_left: Tensor | None = None,
    offsets_right: Tensor | None = None,
    kernel: object = None,
) -> Tensor:
    """Two jagged tensors joined sequence by sequence: hstujit.torch.concat_2d_jagged."""
    return meta.concat_2D_jagged(0, values_left, values_right, max_len_left, max_len_right, offsets_left, offsets_right)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-5, kernel: object = None) -> Tensor:
    """hstujit.torch.rms_norm over the last dimension."""
    return meta.rms_norm(x, weight, eps)


def add_positional_embeddings(
    alpha: float,
    max_seq_len: int,
    position_embeddings_weight: Tensor,
    seq_offsets: Tensor,
    seq_lengths: Tensor,
    seq_embeddings: Tensor,
    num_targets: Tensor | None,
    interleave_targets: bool,
    kernel: object = None,
) -> Tensor:
    """Embeddings of positions added: hstujit.torch.add_positional_embeddings."""
    return ht.add_positional_embeddings(
        seq_embeddings,
        position_embeddings_weight,
        seq_offsets,
        num_targets=num_targets,
        alpha=number(alpha),
        interleave_targets=interleave_targets,
    )


def add_timestamp_positional_embeddings(
    alpha: float,
    max_seq_len: int,
    max_contextual_seq_len: int,
    position_embeddings_weight: Tensor,
    timestamp_embeddings_weight: Tensor,
    seq_offsets: Tensor,
    seq_lengths: Tensor,
    seq_embeddings: Tensor,
    timestamps: Tensor,
    num_targets: Tensor | None,
    interleave_targets: bool,
    time_bucket_fn: str = "sqrt",
    time_bucket_increments: float = 60.0,
    kernel: object = None,
    query_time: Tensor | None = None,
) -> Tensor:
    """Embeddings of positions and ages added: hstujit.torch.add_timestamp_positional_embeddings."""
    return ht.add_timestamp_positional_embeddings(
        seq_embeddings,
        position_embeddings_weight,
        timestamp_embeddings_weight,
        seq_offsets,
        timestamps.to(torch.int64),
        num_targets=num_targets,
        query_time=None if query_time is None else query_time.reshape(-1).to(torch.int64),
        alpha=number(alpha),
        time_bucket_increments=time_bucket_increments,
        time_bucket_fn=meta.bucket_fn(time_bucket_fn),
        max_contextual_seq_len=max_contextual_seq_len,
        interleave_targets=interleave_targets,
    )


def build_sla_func_tensor(
    nheads: int,
    sla_k1: int,
    sla_k2: int,
    seq_offsets: Tensor,
    total_q: int,
    num_targets: Tensor | None = None,
    contextual_seq_len: int = 0,
    device: torch.device | None = None,
) -> Tensor:
    """The intervals of semi-local attention, [nheads, 3, total_q] of one memory: hstujit.torch.build_sla_func."""
    if device is not None and torch.device(device) != seq_offsets.device:
        raise invalid("device", f"{device} is not that of seq_offsets, {seq_offsets.device}")
    intervals = ht.build_sla_func(
        seq_offsets,
        total_q,
        sla_k1,
        max(sla_k2, contextual_seq_len),
        num_targets=num_targets,
        contextual_seq_len=contextual_seq_len,
    )
    return intervals.expand(nheads, 3, total_q)
