"""The wheel `hstu` of NVIDIA's FBGEMM, which recsys-examples and TorchEasyRec import. See docs/switching/hstu.md."""

from __future__ import annotations

from torch import Tensor

from ._varlen import not_yet, varlen

__all__ = ["hstu_attn_varlen_func"]

USED = "sequences are as long as their offsets say; give offsets of the rows that are used"


def hstu_attn_varlen_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    seqused_q: Tensor | None,
    seqused_k: Tensor | None,
    max_seqlen_q: int,
    max_seqlen_k: int,
    scaling_seqlen: int = -1,
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
    func: Tensor | None = None,
    quant_mode: int = -1,
) -> Tensor:
    """Attention: hstujit.torch.attention, of new rows delta_attention, of pages paged_attention."""
    not_yet("seqused_q", seqused_q, None, USED)
    not_yet("seqused_k", seqused_k, None, USED)
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
        quant_mode=quant_mode,
    )
