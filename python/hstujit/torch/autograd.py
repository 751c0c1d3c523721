"""Operators that record gradients.

Each is a torch.autograd.Function around two operators, entered when grad mode is on and an argument requires a gradient;
otherwise the operator is called and nothing else happens. (Registering the formula with the operator taxes calls without
gradients: on a CPU 7.0 µs a call instead of 3.1, and 22.6 instead of 9.8 with them.) Second derivatives are refused.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._errors import Status, Unsupported
from . import ops

__all__ = ["attention", "layer_norm"]


class _FirstOnly(torch.autograd.Function):
    """Passes gradients on, and refuses to be differentiated: `count` tensors that they depend on come before them."""

    @staticmethod
    def forward(ctx: Any, op: str, count: int, *tensors: Tensor | None) -> tuple[Tensor | None, ...]:
        ctx.op = op
        return tuple(None if t is None else t.view_as(t) for t in tensors[count:])

    @staticmethod
    def backward(ctx: Any, *_: Tensor | None) -> Any:
        text = f"{ctx.op}: it has no second derivative; call backward() or grad() without create_graph"
        raise Unsupported(text, Status.UNSUPPORTED)


_Tensors = tuple[Tensor | None, ...]


def _first_only(op: str, inputs: _Tensors, gradients: _Tensors) -> _Tensors:
    """The gradients; where a graph of them is recorded (create_graph), one that refuses to be used."""
    if not torch.is_grad_enabled():
        return gradients
    passed: _Tensors = _FirstOnly.apply(op, len(inputs), *inputs, *gradients)  # type: ignore[no-untyped-call]
    return passed


def _lines(gradient: Tensor) -> Tensor:
    """The gradient as the operators take it, with a last stride of 1: that of a sum has none."""
    return gradient if gradient.stride(-1) == 1 or gradient.size(-1) <= 1 else gradient.contiguous()


def _wanted(needed: tuple[bool, ...], gradients: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
    return tuple(g if n else None for n, g in zip(needed, gradients, strict=True))


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor | None, bias: Tensor | None, valid_rows: Tensor | None, eps: float
    ) -> Tensor:
        out, moments = ops.layer_norm_with_moments(x, weight, bias, eps=eps)
        ctx.save_for_backward(x, weight, bias, valid_rows, moments)
        ctx.eps = eps
        return out

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, weight, bias, valid_rows, moments = ctx.saved_tensors
        needed = tuple(ctx.needs_input_grad[:3])
        with torch.no_grad():
            gradients = ops.layer_norm_backward(
                _lines(dout), x, weight, bias, moments=moments, valid_rows=valid_rows, eps=ctx.eps, needed=needed
            )
        return (*_first_only("layer_norm", (x, weight, bias, dout), _wanted(needed, gradients)), None, None)


def layer_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    eps: float = 0.0,
    valid_rows: Tensor | None = None,
) -> Tensor:
    """hstu_layer_norm: (x - mean) / sqrt(var + eps) * weight + bias over the last dimension.

    x             [rows, dim] f32, f16 or bf16; f64 on the CPU; row stride free
    weight, bias  [dim], both or neither
    eps           0 means 1e-5; hstujit.enums.EXACT_ZERO: 0
    valid_rows    absent, or i32 or i64 [1] on the device, as seq_offsets[-1:] is: rows from there on enter the gradients of
                  neither weight nor bias, whatever they hold
    Gradients of x, weight and bias. Raises hstujit.Error that names the argument.
    """
    if torch.is_grad_enabled() and (
        x.requires_grad or (weight is not None and weight.requires_grad) or (bias is not None and bias.requires_grad)
    ):
        out: Tensor = _LayerNorm.apply(x, weight, bias, valid_rows, eps)  # type: ignore[no-untyped-call]
        return out
    return ops.layer_norm(x, weight, bias, eps=eps)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        rab: Tensor | None,
        attn_scale: Tensor | None,
        seq_offsets: Tensor,
        num_targets: Tensor | None,
        num_contexts: Tensor | None,
        intervals: Tensor | None,
        padded: bool,
        max_seq_len: int,
        num_softmax_heads: int,
        *numbers: Any,
    ) -> Tensor:
        given = _given(rab, attn_scale, num_targets, num_contexts, intervals, num_softmax_heads, numbers)
        out, lse = _attention(q, k, v, seq_offsets, max_seq_len, padded, given)
        # Softmax heads alone read the result; saving it for others would hold its memory for nothing.
        saved = (out, lse) if num_softmax_heads > 0 else (None, None)
        ctx.save_for_backward(q, k, v, rab, attn_scale, seq_offsets, num_targets, num_contexts, intervals, *saved)
        ctx.padded, ctx.max_seq_len, ctx.num_softmax_heads, ctx.numbers = padded, max_seq_len, num_softmax_heads, numbers
        return out

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        q, k, v, rab, attn_scale, seq_offsets, num_targets, num_contexts, intervals, out, lse = ctx.saved_tensors
        given = _given(rab, attn_scale, num_targets, num_contexts, intervals, ctx.num_softmax_heads, ctx.numbers)
        needed = tuple(ctx.needs_input_grad[:5])
        inputs = (q, k, v, rab, attn_scale)
        call = (_lines(dout), q, k, v, seq_offsets, ctx.max_seq_len)
        gradients: _Tensors
        with torch.no_grad():
            if ctx.padded:
                gradients = tuple(_zeros_like(t) if n else None for n, t in zip(needed, inputs, strict=True))
                dq, dk, dv, drab, d_attn_scale = gradients
                ops.attention_backward_out(
                    *call, **given, out=out, lse=lse, dq=dq, dk=dk, dv=dv, drab=drab, d_attn_scale=d_attn_scale
                )
            else:
                gradients = _wanted(needed, ops.attention_backward(*call, **given, out=out, lse=lse, needed=needed))
        return (*_first_only("attention", (*inputs, dout), gradients), *[None] * (len(ctx.numbers) + 7))


def _zeros_like(t: Tensor) -> Tensor:
    return torch.zeros_like(t, memory_format=torch.contiguous_format)


_NUMBERS = (
    "alpha",
    "scaling_seqlen",
    "mask",
    "target_group_size",
    "contextual_seq_len",
    "max_attn_len",
    "min_full_attn_seq_len",
    "window_left",
    "window_right",
)


def _given(
    rab: Tensor | None,
    attn_scale: Tensor | None,
    num_targets: Tensor | None,
    num_contexts: Tensor | None,
    intervals: Tensor | None,
    num_softmax_heads: int,
    numbers: tuple[Any, ...],
) -> dict[str, Any]:
    """The arguments by name that forward and backward have in common."""
    given = dict(zip(_NUMBERS, numbers, strict=True))
    given |= {"rab": rab, "attn_scale": attn_scale, "num_softmax_heads": num_softmax_heads}
    return given | {"num_targets": num_targets, "num_contexts": num_contexts, "intervals": intervals}


def _attention(
    q: Tensor, k: Tensor, v: Tensor, seq_offsets: Tensor, max_seq_len: int, padded: bool, given: dict[str, Any]
) -> tuple[Tensor, Tensor | None]:
    """The result, and its log-sum-exp where a gradient is recorded through softmax heads."""
    heads = given["num_softmax_heads"]
    if padded:
        out = q.new_zeros([q.size(0), q.size(1), v.size(2)])
        if heads > 0:
            lse = q.new_zeros([heads, q.size(0)], dtype=torch.float32)
            ops.attention_with_lse_out(q, k, v, seq_offsets, max_seq_len, **given, out=out, lse=lse)
            return out, lse
        ops.attention_out(q, k, v, seq_offsets, max_seq_len, **given, out=out)
        return out, None
    if heads > 0:
        return ops.attention_with_lse(q, k, v, seq_offsets, max_seq_len, **given)
    return ops.attention(q, k, v, seq_offsets, max_seq_len, **given), None


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    seq_offsets: Tensor,
    max_seq_len: int,
    *,
    alpha: float = 0.0,
    scaling_seqlen: int = 0,
    attn_scale: Tensor | None = None,
    num_targets: Tensor | None = None,
    num_contexts: Tensor | None = None,
    intervals: Tensor | None = None,
    mask: int = 0,
    target_group_size: int = 0,
    contextual_seq_len: int = 0,
    max_attn_len: int = 0,
    min_full_attn_seq_len: int = 0,
    window_left: int = 0,
    window_right: int = 0,
    rab: Tensor | None = None,
    num_softmax_heads: int = 0,
    padded: bool = False,
) -> Tensor:
    """hstu_attention: 1/scaling_seqlen * sum_j allowed(i, j) silu(alpha q_i . k_j) v_j within each sequence.

    q             [total, num_heads, head_dim_qk] f32, f16 or bf16; f64 on the CPU; last stride 1, others free
    k, v          [total, num_kv_heads, head_dim_qk], [total, num_kv_heads, head_dim_v], q's dtype
    seq_offsets   [batch + 1] i32 or i64
    max_seq_len   longest sequence that is expected, > 0
    padded        there are rows behind the last sequence: those of the result, and of gradients, are 0 then, and whatever
                  was in that memory otherwise
    The others as hstujit.torch.ops.attention has them, whose defaults they have.
    Gradients of q, k, v, rab and attn_scale. Raises hstujit.Error that names the argument.
    """
    numbers = (
        alpha,
        scaling_seqlen,
        mask,
        target_group_size,
        contextual_seq_len,
        max_attn_len,
        min_full_attn_seq_len,
        window_left,
        window_right,
    )
    if torch.is_grad_enabled() and (
        q.requires_grad
        or k.requires_grad
        or v.requires_grad
        or (rab is not None and rab.requires_grad)
        or (attn_scale is not None and attn_scale.requires_grad)
    ):
        tensors = (q, k, v, rab, attn_scale, seq_offsets, num_targets, num_contexts, intervals)
        out: Tensor = _Attention.apply(*tensors, padded, max_seq_len, num_softmax_heads, *numbers)  # type: ignore[no-untyped-call]
        return out
    given = _given(rab, attn_scale, num_targets, num_contexts, intervals, num_softmax_heads, numbers)
    if num_softmax_heads == 0 or padded:
        return _attention(q, k, v, seq_offsets, max_seq_len, padded, given)[0]
    return ops.attention(q, k, v, seq_offsets, max_seq_len, **given)
