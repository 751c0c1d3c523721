"""hstu_attn_varlen_func of NVIDIA's packages: what their signatures have in common."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import torch as ht
from .._errors import Status, Unsupported
from .._stages import invalid, number, records_gradient
from ..enums import Fp8AttentionScaling, Fp8Scaling, Mask


def _mask(
    window_size: tuple[int, int],
    num_contexts: Tensor | None,
    num_targets: Tensor | None,
    target_group_size: int,
    func: Tensor | None,
    total_q: int,
) -> dict[str, Any]:
    left, right = window_size
    causal = left < 0 and right == 0
    for name, given in (("num_contexts", num_contexts), ("num_targets", num_targets)):
        if given is not None and not causal:
            raise invalid(name, f"it needs window_size = (-1, 0), not {(left, right)}")
        if given is not None and func is not None:
            raise Unsupported(f"{name}: func says all of the mask", Status.UNSUPPORTED, name)
    if target_group_size < 1:
        raise invalid("target_group_size", f"{target_group_size} is not positive")
    if func is not None:
        if func.dim() != 3:
            raise invalid("func", f"[heads, bounds, total_q] is expected, not {func.dim()} dimensions")
        return {"mask": Mask.INTERVALS, "intervals": func[..., :total_q]}
    if causal:
        return {
            "num_contexts": num_contexts,
            "num_targets": num_targets,
            "target_group_size": target_group_size if num_targets is not None else 0,
        }
    if left < 0 and right < 0:
        return {"mask": Mask.FULL}
    return {"mask": Mask.LOCAL, "window_left": left, "window_right": right}


def _rab(rab: Tensor | None, has_drab: bool) -> Tensor | None:
    """The bias, with a gradient where it is asked for; three dimensions are those of one head for all."""
    if rab is None:
        if has_drab:
            raise invalid("has_drab", "it needs rab")
        return None
    rab = rab[:, None] if rab.dim() == 3 else rab
    return rab if has_drab else rab.detach()


def _no_fp8(quant_mode: int, why: str) -> Unsupported:
    return Unsupported(f"quant_mode = {quant_mode}: {why}", Status.UNSUPPORTED, "quant_mode")


def _in_fp8(quant_mode: int, q: Tensor, k: Tensor, v: Tensor, offsets: Tensor, max_len: int, options: dict[str, Any]) -> Tensor:
    """Attention of q, k and v in e4m3 with a scale for each of them: 1 in mode 0, that of its greatest magnitude in mode 5."""
    if quant_mode not in (0, 5):
        raise _no_fp8(quant_mode, "0 and 5, a scale for each of q, k and v, are there; see hstujit.torch.attention_fp8")
    if options.pop("rab") is not None:
        raise _no_fp8(quant_mode, "with rab there is no attention in FP8")

    one = torch.ones(1, device=q.device) if quant_mode == 0 else None

    def quantised(t: Tensor) -> tuple[Tensor, Tensor]:
        rows = t.reshape(t.size(0), -1)
        amax = ht.fp8_amax(rows) if one is None else None
        stored, descale = ht.quantize_fp8(
            rows, scaling=Fp8Scaling.TENSOR, amax=amax, static_descale=one, out_dtype=torch.float8_e4m3fn
        )
        return stored.view(t.shape), descale

    (q8, q_descale), (k8, k_descale), (v8, v_descale) = (quantised(t) for t in (q, k, v))
    options |= {"scaling": Fp8AttentionScaling.TENSOR, "out_dtype": q.dtype}
    return ht.attention_fp8(q8, k8, v8, q_descale, k_descale, v_descale, offsets, max_len, **options)


def varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    scaling_seqlen: int,
    num_contexts: Tensor | None,
    num_targets: Tensor | None,
    target_group_size: int,
    window_size: tuple[int, int],
    alpha: float,
    rab: Tensor | None,
    has_drab: bool,
    func: Tensor | None,
    kv_cache: Tensor | None = None,
    page_offsets: Tensor | None = None,
    page_ids: Tensor | None = None,
    last_page_lens: Tensor | None = None,
    cu_seqlens_t: Tensor | None = None,
    quant_mode: int = -1,
) -> Tensor:
    """Attention, of new rows where q and k have other offsets, of pages where there is a kv_cache.

    With gradients q and k of as many rows and the same longest sequence count as the same sequences: of new rows there is no
    gradient, and comparing the offsets would read them on the host.
    """
    if max_seqlen_q > max_seqlen_k:
        raise invalid("max_seqlen_q", f"{max_seqlen_q} is more than max_seqlen_k = {max_seqlen_k}")
    if num_targets is None and cu_seqlens_t is not None:
        num_targets = cu_seqlens_t.diff()
    options = _mask(window_size, num_contexts, num_targets, target_group_size, func, q.size(0)) | {
        "alpha": number(alpha),
        "scaling_seqlen": max_seqlen_q if scaling_seqlen == -1 else scaling_seqlen,
        "rab": _rab(rab, has_drab),
    }
    if quant_mode != -1:
        if kv_cache is not None or q.size(0) != k.size(0) or max_seqlen_q != max_seqlen_k:
            raise _no_fp8(quant_mode, "in FP8 there is attention of whole sequences only")
        return _in_fp8(quant_mode, q, k, v, cu_seqlens_k, max_seqlen_k, options)
    new_rows: dict[str, Any] = {"q_offsets": cu_seqlens_q, "max_q_len": max_seqlen_q}
    if kv_cache is not None:
        if last_page_lens is None:
            raise invalid("last_page_lens", "a kv_cache needs it")
        return ht.paged_attention(
            q,
            k if num_targets is not None else None,
            v if num_targets is not None else None,
            kv_cache[:, 0],
            kv_cache[:, 1],
            last_page_lens,
            max_seqlen_k,
            page_offsets=page_offsets,
            page_ids=page_ids,
            **new_rows,
            **options,
        )
    same = cu_seqlens_q is cu_seqlens_k
    if not same and not torch.compiler.is_compiling():
        same = cu_seqlens_q.data_ptr() == cu_seqlens_k.data_ptr() and cu_seqlens_q.dtype == cu_seqlens_k.dtype
    if not same and records_gradient(q, k, v, options["rab"]):
        same = q.size(0) == k.size(0) and max_seqlen_q == max_seqlen_k
    if same:
        return ht.attention(q, k, v, cu_seqlens_k, max_seqlen_k, **options)
    return ht.delta_attention(q, k, v, cu_seqlens_k, max_seqlen_k, **new_rows, **options)


def not_yet(name: str, given: object, unset: object, why: str) -> None:
    """Refuses an argument that the operators have nothing for."""
    if given is not unset and not (isinstance(given, int) and given == unset):
        shown = "a tensor" if isinstance(given, torch.Tensor) else repr(given)
        raise Unsupported(f"{name} = {shown}: {why}", Status.UNSUPPORTED, name)
