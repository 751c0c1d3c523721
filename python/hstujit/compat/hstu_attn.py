"""corelib/hstu of NVIDIA/recsys-examples, the module `hstu_attn`. See docs/switching/hstu_attn.md."""

from __future__ import annotations

from torch import Tensor

from .._stages import invalid
from ._varlen import varlen

__all__ = ["hstu_attn_qkvpacked_func", "hstu_attn_varlen_func"]


def hstu_attn_varlen_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    num_contexts: Tensor | None = None,
    num_targets: Tensor | None = None,
    target_group_size: int = 1,
    window_size: tuple[int, int] = (-1, -1),
    alpha: float = 1.0,
    rab: Tensor | None = None,
    has_drab: bool = False,
    kv_cache: Tensor | None = None,
    page_offsets: Tensor | None = None,
    page_ids: Tensor | None = None,
    last_page_lens: Tensor | None = None,
    cu_seqlens_t: Tensor | None = None,
    func: Tensor | None = None,
    scaling_seqlen: int = -1,
) -> Tensor:
    """Attention: hstujit.torch.attention, of new rows delta_attention, of pages paged_attention."""
    return varlen(
        q,
        k,
        v,
        cu_seqlens_q,
        cu_seqlens_k,
        max_seqlen_q,
        max_seqlen_k,
        scaling_seqlen=scaling_seqlen,
        num_contexts=num_contexts,
        num_targets=num_targets,
        target_group_size=target_group_size,
        window_size=window_size,
        alpha=alpha,
        rab=rab,
        has_drab=has_drab,
        func=func,
        kv_cache=kv_cache,
        page_offsets=page_offsets,
        page_ids=page_ids,
        last_page_lens=last_page_lens,
        cu_seqlens_t=cu_seqlens_t,
    )


def hstu_attn_qkvpacked_func(
    qkv: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    num_contexts: Tensor | None = None,
    num_targets: Tensor | None = None,
    target_group_size: int = 1,
    window_size: tuple[int, int] = (-1, -1),
    alpha: float = 1.0,
    rab: Tensor | None = None,
    has_drab: bool = False,
    func: Tensor | None = None,
    scaling_seqlen: int = -1,
) -> Tensor:
    """hstu_attn_varlen_func of q, k and v in one tensor [total, 3, num_heads, head_dim]."""
    if qkv.dim() != 4 or qkv.size(1) != 3:
        raise invalid("qkv", f"[total, 3, num_heads, head_dim] is expected, not {list(qkv.shape)}")
    sequences = (cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    mask = (num_contexts, num_targets, target_group_size, window_size)
    q, k, v = qkv.unbind(1)
    return hstu_attn_varlen_func(q, k, v, *sequences, *mask, alpha, rab, has_drab, func=func, scaling_seqlen=scaling_seqlen)
