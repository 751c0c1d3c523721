"""Operators that record gradients.

Each is a torch.autograd.Function around two operators, entered when grad mode is on and an argument requires a gradient;
otherwise the operator is called and nothing else happens. (Registering the formula with the operator taxes calls without
gradients: on a CPU 7.0 µs a call instead of 3.1, and 22.6 instead of 9.8 with them.) Second derivatives are refused.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .._errors import Status, Unsupported
from ..enums import Activation
from . import ops

__all__ = [
    "addmm",
    "attention",
    "concat_2d_jagged",
    "group_norm",
    "layer_norm",
    "norm_mul",
    "rms_norm",
    "split_2d_jagged",
    "stack",
    "swish_layer_norm",
]


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
    if gradient.stride(-1) == 1 or gradient.size(-1) <= 1:
        return gradient
    return gradient.clone(memory_format=torch.contiguous_format)  # contiguous() leaves strides of no rows as they are


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


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor | None, valid_rows: Tensor | None, eps: float, activation: int) -> Tensor:
        ctx.save_for_backward(x, weight, valid_rows)
        ctx.eps, ctx.activation = eps, activation
        return ops.rms_norm(x, weight, eps=eps, activation=activation)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, weight, valid_rows = ctx.saved_tensors
        needed = tuple(ctx.needs_input_grad[:2])
        options = {"eps": ctx.eps, "activation": ctx.activation}
        with torch.no_grad():
            gradients = ops.rms_norm_backward(_lines(dout), x, weight, valid_rows=valid_rows, needed=needed, **options)
        return (*_first_only("rms_norm", (x, weight, dout), _wanted(needed, gradients)), None, None, None)


def rms_norm(
    x: Tensor,
    weight: Tensor | None = None,
    *,
    eps: float = 0.0,
    activation: int = 0,
    valid_rows: Tensor | None = None,
) -> Tensor:
    """hstu_rms_norm: act(x / sqrt(mean(x^2) + eps) * weight) over the last dimension.

    x           [rows, dim] f32, f16 or bf16; f64 on the CPU; row stride free
    weight      [dim]; absent: 1
    eps         0 means 1e-5; hstujit.enums.EXACT_ZERO: 0
    activation  hstujit.enums.Activation.NONE or SILU
    valid_rows  as in layer_norm
    Gradients of x and weight. Raises hstujit.Error that names the argument.
    """
    if torch.is_grad_enabled() and (x.requires_grad or (weight is not None and weight.requires_grad)):
        out: Tensor = _RmsNorm.apply(x, weight, valid_rows, eps, activation)  # type: ignore[no-untyped-call]
        return out
    return ops.rms_norm(x, weight, eps=eps, activation=activation)


class _SwishLayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor | None, bias: Tensor | None, valid_rows: Tensor | None, eps: float
    ) -> Tensor:
        ctx.save_for_backward(x, weight, bias, valid_rows)
        ctx.eps = eps
        return ops.swish_layer_norm(x, weight, bias, eps=eps)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, weight, bias, valid_rows = ctx.saved_tensors
        needed = tuple(ctx.needs_input_grad[:3])
        with torch.no_grad():
            gradients = ops.swish_layer_norm_backward(
                _lines(dout), x, weight, bias, valid_rows=valid_rows, eps=ctx.eps, needed=needed
            )
        return (*_first_only("swish_layer_norm", (x, weight, bias, dout), _wanted(needed, gradients)), None, None)


def swish_layer_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    eps: float = 0.0,
    valid_rows: Tensor | None = None,
) -> Tensor:
    """hstu_swish_layer_norm: x * sigmoid(layer_norm(x)), x being the raw input.

    x, weight, bias, eps, valid_rows  as in layer_norm
    Gradients of x, weight and bias. Raises hstujit.Error that names the argument.
    """
    if torch.is_grad_enabled() and (
        x.requires_grad or (weight is not None and weight.requires_grad) or (bias is not None and bias.requires_grad)
    ):
        out: Tensor = _SwishLayerNorm.apply(x, weight, bias, valid_rows, eps)  # type: ignore[no-untyped-call]
        return out
    return ops.swish_layer_norm(x, weight, bias, eps=eps)


class _GroupNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        valid_rows: Tensor | None,
        num_groups: int,
        eps: float,
    ) -> Tensor:
        ctx.save_for_backward(x, weight, bias, valid_rows)
        ctx.num_groups, ctx.eps = num_groups, eps
        return ops.group_norm(x, weight, bias, num_groups=num_groups, eps=eps)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, weight, bias, valid_rows = ctx.saved_tensors
        needed = tuple(ctx.needs_input_grad[:3])
        options = {"num_groups": ctx.num_groups, "eps": ctx.eps}
        with torch.no_grad():
            gradients = ops.group_norm_backward(_lines(dout), x, weight, bias, **options, valid_rows=valid_rows, needed=needed)
        return (*_first_only("group_norm", (x, weight, bias, dout), _wanted(needed, gradients)), None, None, None)


def group_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    num_groups: int,
    eps: float = 0.0,
    valid_rows: Tensor | None = None,
) -> Tensor:
    """hstu_group_norm: each of num_groups equal parts of a row normalised, times its weight, plus its bias.

    x                    [rows, dim] f32, f16 or bf16; f64 on the CPU; row stride free
    weight, bias         [num_groups], both or neither
    num_groups           divides dim
    eps, valid_rows      as in layer_norm
    Gradients of x, weight and bias. Raises hstujit.Error that names the argument.
    """
    if torch.is_grad_enabled() and (
        x.requires_grad or (weight is not None and weight.requires_grad) or (bias is not None and bias.requires_grad)
    ):
        out: Tensor = _GroupNorm.apply(x, weight, bias, valid_rows, num_groups, eps)  # type: ignore[no-untyped-call]
        return out
    return ops.group_norm(x, weight, bias, num_groups=num_groups, eps=eps)


_NORM_MUL = (
    "eps",
    "activation",
    "concat_u",
    "concat_x",
    "silu_u",
    "num_groups",
    "norm",
    "dropout_stream",
    "dropout_ratio",
    "seed",
)


def _norm_mul(options: tuple[Any, ...]) -> dict[str, Any]:
    """The options by name."""
    return dict(zip(_NORM_MUL, options, strict=True))


class _NormMul(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, attn: Tensor, u: Tensor, weight: Tensor, bias: Tensor | None, valid_rows: Tensor | None, *options: Any
    ) -> Tensor:
        ctx.save_for_backward(attn, u, weight, bias, valid_rows)
        ctx.options = options
        return ops.norm_mul(attn, u, weight, bias, **_norm_mul(options))

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        attn, u, weight, bias, valid_rows = ctx.saved_tensors
        needed = tuple(ctx.needs_input_grad[:4])
        options = _norm_mul(ctx.options)
        with torch.no_grad():
            *gradients, _ = ops.norm_mul_backward(
                _lines(dout), attn, u, weight, bias, valid_rows=valid_rows, **options, needed=(*needed, False)
            )
        passed = _first_only("norm_mul", (attn, u, weight, bias, dout), _wanted(needed, tuple(gradients)))
        return (*passed, *[None] * (1 + len(ctx.options)))


def norm_mul(
    attn: Tensor,
    u: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    eps: float = 0.0,
    activation: int = 0,
    concat_u: bool = False,
    concat_x: bool = False,
    silu_u: bool = False,
    num_groups: int = 0,
    norm: int = 0,
    dropout_stream: int = 0,
    dropout_ratio: float = 0.0,
    seed: int = 0,
    valid_rows: Tensor | None = None,
) -> Tensor:
    """hstu_norm_mul: dropout([u' | attn | act(u) * norm(attn)]), with the segments that are asked for.

    attn, u       [rows, dim] f32, f16 or bf16; f64 on the CPU; row strides free
    weight, bias  [dim], or [num_groups] under group norm; no bias with hstujit.enums.Norm.RMS
    valid_rows    as in layer_norm
    The others as hstujit.torch.ops.norm_mul has them, whose defaults they have.
    Gradients of attn, u, weight and bias; what dropped out is drawn again from the seed. Raises hstujit.Error that names
    the argument.
    """
    options = (eps, activation, concat_u, concat_x, silu_u, num_groups, norm, dropout_stream, dropout_ratio, seed)
    if torch.is_grad_enabled() and (
        attn.requires_grad or u.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad)
    ):
        out: Tensor = _NormMul.apply(attn, u, weight, bias, valid_rows, *options)  # type: ignore[no-untyped-call]
        return out
    return ops.norm_mul(attn, u, weight, bias, **_norm_mul(options))


class _Addmm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        w: Tensor,
        bias: Tensor | None,
        residual: Tensor | None,
        valid_rows: Tensor | None,
        activation: int,
        activation_columns: int,
        allow_tf32: bool,
    ) -> Tensor:
        pre = ops.addmm(x, w, bias, residual, allow_tf32=allow_tf32)
        ctx.save_for_backward(x, w, bias, valid_rows, pre if activation else None)
        ctx.activation, ctx.activation_columns, ctx.allow_tf32 = activation, activation_columns, allow_tf32
        return _activated(pre, activation, activation_columns) if activation else pre

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, w, bias, valid_rows, pre = ctx.saved_tensors
        needed = tuple(ctx.needs_input_grad[:4])
        of_pre, dx, dw, dbias = dout, None, None, None
        with torch.no_grad():
            if pre is not None:
                columns = ctx.activation_columns
                of_pre = ops.addmm_dpre(pre, _lines(dout), activation=ctx.activation, activation_columns=columns)
            if needed[0]:
                dx = ops.addmm(of_pre, w.t(), allow_tf32=ctx.allow_tf32)
            if needed[1] or needed[2]:
                # A weight that is stored [n, k] gets a gradient that is stored so.
                transposed = w.stride(0) == 1 and w.stride(1) != 1
                options = {"valid_rows": valid_rows, "transposed": transposed, "allow_tf32": ctx.allow_tf32}
                dtype = None if bias is None else bias.dtype
                made = ops.addmm_wgrad(x, of_pre, **options, bias_grad_dtype=dtype, needed=needed[1:3])
                dw = (made[0].t() if transposed else made[0]) if needed[1] else None
                dbias = made[1] if needed[2] else None
        gradients = (dx, dw, dbias, of_pre if needed[3] else None)
        return (*_first_only("addmm", (x, w, bias, dout), gradients), None, None, None, None)


def _activated(pre: Tensor, activation: int, columns: int) -> Tensor:
    function = _ACTIVATIONS[activation]
    if columns == 0 or columns == pre.size(1):
        return function(pre)
    return torch.cat([function(pre[:, :columns]), pre[:, columns:]], 1)


_ACTIVATIONS: dict[int, Callable[[Tensor], Tensor]] = {
    Activation.SILU: torch.nn.functional.silu,
    Activation.GELU: torch.nn.functional.gelu,
    Activation.GELU_TANH: functools.partial(torch.nn.functional.gelu, approximate="tanh"),
}


def addmm(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    *,
    activation: int = 0,
    activation_columns: int = 0,
    allow_tf32: bool = False,
    valid_rows: Tensor | None = None,
) -> Tensor:
    """hstu_addmm: act(x w + bias + residual).

    x                   [m, k] f32, f16 or bf16; f64 on the CPU; any strides
    w                   [k, n] x's dtype, any strides: `weight.t()` of a weight stored [n, k]
    bias                [n]
    residual            [m, n] x's dtype, any strides
    activation          hstujit.enums.Activation.NONE, SILU, GELU or GELU_TANH
    activation_columns  the activation covers columns [0, activation_columns) only; 0 means all n
    valid_rows          as in layer_norm
    Gradients of x, w, bias and residual. What stands before the activation is rounded to x's type where a gradient is
    recorded, and not in between otherwise. Raises hstujit.Error that names the argument.
    """
    if torch.is_grad_enabled() and (
        x.requires_grad
        or w.requires_grad
        or (bias is not None and bias.requires_grad)
        or (residual is not None and residual.requires_grad)
    ):
        tensors = (x, w, bias, residual, valid_rows)
        out: Tensor = _Addmm.apply(*tensors, activation, activation_columns, allow_tf32)  # type: ignore[no-untyped-call]
        return out
    options: dict[str, Any] = {"activation": activation, "activation_columns": activation_columns}
    return ops.addmm(x, w, bias, residual, **options, allow_tf32=allow_tf32)


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


class _Concat(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        left: Tensor,
        right: Tensor,
        offsets_left: Tensor | None,
        offsets_right: Tensor | None,
        *numbers: Any,
    ) -> Tensor:
        ctx.save_for_backward(offsets_left, offsets_right)
        ctx.shapes, ctx.numbers = (left.shape, right.shape), numbers
        return ops.concat_2d_jagged(left, right, **_concat(offsets_left, offsets_right, numbers))

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        needed = tuple(ctx.needs_input_grad[:2])
        with torch.no_grad():
            # Of both parts the shapes alone are read: a row stands for all of them.
            row = dout.new_empty([dout.size(-1)])
            parts = [row.expand(shape) for shape in ctx.shapes]
            offsets_left, offsets_right = ctx.saved_tensors
            options = _concat(offsets_left, offsets_right, ctx.numbers)
            gradients = ops.concat_2d_jagged_backward(_lines(dout), *parts, **options, needed=needed)
        return (*_first_only("concat_2d_jagged", (dout,), _wanted(needed, gradients)), *[None] * (2 + len(ctx.numbers)))


def _concat(offsets_left: Tensor | None, offsets_right: Tensor | None, numbers: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments by name that a concatenation and its gradient have in common."""
    given = dict(zip(("max_len_left", "max_len_right", "n_prefix_from_right", "is_replace"), numbers, strict=True))
    return given | {"offsets_left": offsets_left, "offsets_right": offsets_right}


def concat_2d_jagged(
    left: Tensor,
    right: Tensor,
    *,
    offsets_left: Tensor | None = None,
    offsets_right: Tensor | None = None,
    max_len_left: int = 0,
    max_len_right: int = 0,
    n_prefix_from_right: int = 0,
    is_replace: bool = False,
) -> Tensor:
    """hstu_concat_2d_jagged: two jagged tensors joined sequence by sequence, or last rows replaced.

    left, right          [total, dim], or [batch, rows, dim] for a dense part; same dtype, any; last stride 1
    offsets_left, _right  [batch + 1] i32 or i64; absent: that part is dense
    The others as hstujit.torch.ops.concat_2d_jagged has them, whose defaults they have.
    Gradients of left and right; those of rows that were replaced are 0. Raises hstujit.Error that names the argument.
    """
    numbers = (max_len_left, max_len_right, n_prefix_from_right, is_replace)
    if torch.is_grad_enabled() and (left.requires_grad or right.requires_grad):
        out: Tensor = _Concat.apply(left, right, offsets_left, offsets_right, *numbers)  # type: ignore[no-untyped-call]
        return out
    return ops.concat_2d_jagged(left, right, **_concat(offsets_left, offsets_right, numbers))


class _Split(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        total_left: int,
        offsets_left: Tensor | None,
        offsets_right: Tensor | None,
        *numbers: int,
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(offsets_left, offsets_right)
        ctx.numbers = numbers
        return ops.split_2d_jagged(values, total_left, **_split(offsets_left, offsets_right, numbers))

    @staticmethod
    def backward(ctx: Any, dleft: Tensor, dright: Tensor) -> Any:
        with torch.no_grad():
            offsets_left, offsets_right = ctx.saved_tensors
            options = _concat(offsets_left, offsets_right, (*ctx.numbers, False))
            dvalues = ops.concat_2d_jagged(_lines(dleft), _lines(dright), **options)
        return (*_first_only("split_2d_jagged", (dleft, dright), (dvalues,)), *[None] * (3 + len(ctx.numbers)))


def _split(offsets_left: Tensor | None, offsets_right: Tensor | None, numbers: tuple[int, ...]) -> dict[str, Any]:
    given: dict[str, Any] = dict(zip(("max_len_left", "max_len_right", "n_prefix_to_right"), numbers, strict=True))
    return given | {"offsets_left": offsets_left, "offsets_right": offsets_right}


def split_2d_jagged(
    values: Tensor,
    total_left: int,
    *,
    offsets_left: Tensor | None = None,
    offsets_right: Tensor | None = None,
    max_len_left: int = 0,
    max_len_right: int = 0,
    n_prefix_to_right: int = 0,
) -> tuple[Tensor, Tensor]:
    """hstu_split_2d_jagged: left and right of what concat_2d_jagged joined, as matrices.

    values               [rows of left + rows of right, dim], any dtype; row stride free
    total_left           rows of left
    offsets_left, _right  [batch + 1] i32 or i64; absent (one of them at most): that part is dense
    The others as hstujit.torch.ops.split_2d_jagged has them, whose defaults they have.
    Gradients of values. Raises hstujit.Error that names the argument.
    """
    numbers = (max_len_left, max_len_right, n_prefix_to_right)
    if torch.is_grad_enabled() and values.requires_grad:
        parts = (values, total_left, offsets_left, offsets_right)
        out: tuple[Tensor, Tensor] = _Split.apply(*parts, *numbers)  # type: ignore[no-untyped-call]
        return out
    return ops.split_2d_jagged(values, total_left, **_split(offsets_left, offsets_right, numbers))


_PARAMETERS = (
    "norm_weight",
    "norm_bias",
    "uvqk_weight",
    "uvqk_bias",
    "output_norm_weight",
    "output_norm_bias",
    "output_weight",
)


def without_rows_behind(x: Tensor, seq_offsets: Tensor) -> Tensor:
    """x with 0 in rows behind the last sequence, whatever they hold; the same of its gradient."""
    behind = torch.arange(x.size(0), device=x.device) >= seq_offsets[-1]
    return x.masked_fill(behind[:, None], 0)


class _Stack(torch.autograd.Function):
    """A stack. Its layers' parameters come last, list by list; `counts` has the length of each."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        seq_offsets: Tensor,
        num_targets: Tensor | None,
        num_contexts: Tensor | None,
        intervals: Tensor | None,
        rab: Tensor | None,
        attn_scale: Tensor | None,
        names: tuple[str, ...],
        numbers: tuple[Any, ...],
        counts: tuple[int, ...],
        cast: bool,
        *parameters: Tensor,
    ) -> Tensor:
        tensors = (seq_offsets, num_targets, num_contexts, intervals, rab, attn_scale)
        weights = _cast(parameters, x.dtype) if cast else parameters
        given = _stack(tensors, names, numbers, _lists(weights, counts))
        out, saved = ops.stack_with_saved(x, **given)
        ctx.save_for_backward(x, saved, *tensors, *parameters, *weights)
        ctx.names, ctx.numbers, ctx.counts = names, numbers, counts
        return out

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, saved, *others = ctx.saved_tensors
        count = sum(ctx.counts)
        tensors, parameters, weights = tuple(others[:6]), tuple(others[6 : 6 + count]), tuple(others[6 + count :])
        given = _stack(tensors, ctx.names, ctx.numbers, _lists(weights, ctx.counts))
        needed = (ctx.needs_input_grad[0], *ctx.needs_input_grad[11:])
        # Sums are in f32: those that go to parameters in f32 are not rounded to x's type on their way.
        masters = any(wanted and p.dtype == torch.float32 for wanted, p in zip(needed[1:], parameters, strict=True))
        with torch.no_grad():
            made = ops.stack_backward(
                _lines(dout),
                x,
                saved,
                **given,
                weight_grad_dtype=torch.float32 if masters else None,
                needed=(needed[0], *_by_layer(_lists(needed[1:], ctx.counts))),
            )
            flat = [gradient for list_ in made[1:] for gradient in list_]
            flat = [gradient.to(p.dtype) for gradient, p in zip(flat, parameters, strict=True)]
        dx, *gradients = _first_only("stack", (x, *parameters, dout), _wanted(needed, (made[0], *flat)))
        return (dx, *[None] * 10, *gradients)


def _cast(parameters: Sequence[Tensor], dtype: torch.dtype) -> tuple[Tensor, ...]:
    return tuple(p.to(dtype) for p in parameters)


def _lists(values: tuple[Any, ...], counts: tuple[int, ...]) -> list[list[Any]]:
    """Values one behind another as lists of such lengths."""
    ends = list(itertools.accumulate(counts))
    return [list(values[end - count : end]) for count, end in zip(counts, ends, strict=True)]


def _by_layer(lists: list[list[bool]]) -> list[bool]:
    """Flags of each parameter of the first layer, of the second, ...; a list may be empty."""
    layers = max(len(list_) for list_ in lists)
    return [i < len(list_) and list_[i] for i in range(layers) for list_ in lists]


def _stack(
    tensors: tuple[Tensor | None, ...],
    names: tuple[str, ...],
    numbers: tuple[Any, ...],
    lists: Sequence[Sequence[Tensor]],
) -> dict[str, Any]:
    """The arguments by name that forward and backward have in common."""
    given: dict[str, Any] = dict(zip(names, numbers, strict=True))
    others = ("seq_offsets", "num_targets", "num_contexts", "intervals", "rab", "attn_scale")
    return given | dict(zip(others, tensors, strict=True)) | dict(zip(_PARAMETERS, lists, strict=True))


def stack(
    x: Tensor,
    norm_weight: Sequence[Tensor],
    norm_bias: Sequence[Tensor],
    uvqk_weight: Sequence[Tensor],
    uvqk_bias: Sequence[Tensor],
    output_norm_weight: Sequence[Tensor],
    output_norm_bias: Sequence[Tensor],
    output_weight: Sequence[Tensor],
    seq_offsets: Tensor,
    max_seq_len: int,
    *,
    num_heads: int,
    attn_dim: int,
    hidden_dim: int,
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
    eps: float = 0.0,
    input_norm: int = 0,
    output_eps: float = 0.0,
    activation: int = 0,
    concat_u: bool = False,
    concat_x: bool = False,
    silu_u: bool = False,
    norm: int = 0,
    dropout_stream: int = 0,
    dropout_ratio: float = 0.0,
    num_groups: int = 0,
    seed: int = 0,
    recompute: int = 0,
    padded: bool = False,
    cast_parameters: bool = False,
) -> Tensor:
    """hstu_stack: HSTU layers one behind another, [total, embedding] of x's dtype.

    x                [total, embedding] f32, f16 or bf16; f64 on the CPU
    norm_weight ...  a tensor a layer, as hstujit.torch.ops.stack has them
    seq_offsets      [batch + 1] i32 or i64
    recompute        bits of hstujit.enums.Recompute: what a gradient computes again, so that it need not be kept. They
                     change no result, and nothing where no gradient is recorded
    padded           there are rows behind the last sequence: those of the result, and of x's gradient, are 0 then, and
                     whatever was in that memory otherwise
    cast_parameters  parameters of other types are cast to x's
    The others as hstujit.torch.ops.stack has them, whose defaults they have.
    Gradients of x and of each layer's parameters, in their types. With x in 16 bits those of parameters in f32 are not
    rounded in between. Rows behind the last sequence enter none of them.
    What is kept for them is one tensor of bytes. There are none of rab and attn_scale: hstujit.Unsupported is raised where
    one is needed. Raises hstujit.Error that names the argument.
    """
    given: dict[str, Any] = {
        "max_seq_len": max_seq_len,
        "num_heads": num_heads,
        "attn_dim": attn_dim,
        "hidden_dim": hidden_dim,
        "alpha": alpha,
        "scaling_seqlen": scaling_seqlen,
        "mask": mask,
        "target_group_size": target_group_size,
        "contextual_seq_len": contextual_seq_len,
        "max_attn_len": max_attn_len,
        "min_full_attn_seq_len": min_full_attn_seq_len,
        "window_left": window_left,
        "window_right": window_right,
        "num_softmax_heads": num_softmax_heads,
        "eps": eps,
        "input_norm": input_norm,
        "output_eps": output_eps,
        "activation": activation,
        "concat_u": concat_u,
        "concat_x": concat_x,
        "silu_u": silu_u,
        "norm": norm,
        "dropout_stream": dropout_stream,
        "dropout_ratio": dropout_ratio,
        "num_groups": num_groups,
        "seed": seed,
    }
    lists = (norm_weight, norm_bias, uvqk_weight, uvqk_bias, output_norm_weight, output_norm_bias, output_weight)
    tensors = (seq_offsets, num_targets, num_contexts, intervals, rab, attn_scale)
    if padded:
        x = without_rows_behind(x, seq_offsets)
    out: Tensor
    if torch.is_grad_enabled() and (x.requires_grad or any(t.requires_grad for list_ in lists for t in list_)):
        for name, t in (("rab", rab), ("attn_scale", attn_scale)):
            if t is not None and t.requires_grad:
                text = f"stack: {name}: a stack has no gradient of it; make layers of hstujit.torch.attention, or detach it"
                raise Unsupported(text, Status.UNSUPPORTED, name)
        given["recompute"] = recompute
        options = (tuple(given), tuple(given.values()), tuple(len(list_) for list_ in lists), cast_parameters)
        out = _Stack.apply(x, *tensors, *options, *itertools.chain(*lists))  # type: ignore[no-untyped-call]
    else:
        weights = [_cast(list_, x.dtype) for list_ in lists] if cast_parameters else lists
        out = ops.stack(x, **_stack(tensors, tuple(given), tuple(given.values()), weights))
    return without_rows_behind(out, seq_offsets) if padded else out
