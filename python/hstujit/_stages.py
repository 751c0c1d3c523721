"""The stages of an HSTU layer, for `hstujit.nn` and `hstujit.compat`.

Without gradients a stage is as few operators as the library has for it. With gradients it is made of those operators of
`hstujit.torch` that record them; what has no operator with a gradient yet is PyTorch's own: products and products by
element. Which operators those are is asked of `hstujit.torch.autograd`.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from . import torch as ht
from ._errors import InvalidArgument, Status
from .enums import EXACT_ZERO, Activation
from .torch import ops

ACTIVATIONS = {"none": Activation.NONE, "silu": Activation.SILU, "sigmoid": Activation.SIGMOID}


def records_gradient(*tensors: Tensor | None) -> bool:
    """Whether a call with these arguments must record a gradient."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def number(value: float) -> float:
    """A number for an argument of the operators whose 0 means a default."""
    return EXACT_ZERO if value == 0 else value


def same_type(x: Tensor, *others: Tensor | None) -> list[Tensor | None]:
    """The tensors in x's dtype, as the operators take weights."""
    return [None if t is None else t.to(x.dtype) for t in others]


def invalid(field: str, text: str) -> InvalidArgument:
    """What an argument is refused with, before an operator sees it."""
    return InvalidArgument(f"{field}: {text}", Status.INVALID_ARGUMENT, field)


def by_heads(t: Tensor, heads: int, dim: int) -> Tensor:
    """Columns as heads: [rows, heads * dim] -> [rows, heads, dim], where they lie."""
    return t.view(t.size(0), heads, dim)


def _has_gradient(name: str) -> bool:
    return name in ht.autograd.__all__


def addmm(x: Tensor, w: Tensor, bias: Tensor | None = None, residual: Tensor | None = None) -> Tensor:
    """x w + bias + residual: [m, k] [k, n] -> [m, n], bias [n], residual [m, n]."""
    if not records_gradient(x, w, bias, residual) or _has_gradient("addmm"):
        return ht.addmm(x, w, bias, residual)
    with torch.autocast(x.device.type, enabled=False):
        if bias is not None and residual is not None:
            return torch.addmm(bias, x, w) + residual
        added = residual if bias is None else bias
        return x @ w if added is None else torch.addmm(added, x, w)


def swish_layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """x * sigmoid(layer_norm(x)) of rows."""
    if not records_gradient(x, weight, bias) or _has_gradient("swish_layer_norm"):
        return ht.swish_layer_norm(x, weight, bias, eps=number(eps))
    return x * torch.sigmoid(ht.layer_norm(x, weight, bias, eps=number(eps)))


def compute_uvqk(
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    dims: tuple[int, int, int],
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """u (SiLU applied) [rows, num_heads * hidden_dim], v, q and k by heads, of layer norm and projection.

    dims  num_heads, attn_dim, hidden_dim
    """
    heads, attn_dim, hidden_dim = dims
    columns = [heads * hidden_dim, heads * hidden_dim, heads * attn_dim, heads * attn_dim]
    if records_gradient(x, norm_weight, norm_bias, weight, bias):
        normed = ht.layer_norm(x, norm_weight, norm_bias, eps=number(eps))
        u, v, q, k = torch.split_with_sizes(addmm(normed, weight, bias), columns, 1)
        u = F.silu(u)
    else:
        named: dict[str, Any] = {"num_heads": heads, "attn_dim": attn_dim, "hidden_dim": hidden_dim}
        uvqk = ops.compute_uvqk(x, norm_weight, norm_bias, weight, bias, **named, eps=number(eps))
        u, v, q, k = torch.split_with_sizes(uvqk, columns, 1)
    return u, by_heads(v, heads, hidden_dim), by_heads(q, heads, attn_dim), by_heads(k, heads, attn_dim)


def preprocess_and_attention(
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    dims: tuple[int, int, int],
    seq_offsets: Tensor,
    max_seq_len: int,
    mask: dict[str, Any],
    *,
    padded: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """u, the attention [rows, num_heads, hidden_dim], k and v: compute_uvqk, then attention on what it gives.

    mask    further arguments of hstujit.torch.attention
    padded  with gradients, rows behind the last sequence give 0
    """
    heads, attn_dim, hidden_dim = dims
    if records_gradient(x, norm_weight, norm_bias, weight, bias, mask.get("rab"), mask.get("attn_scale")):
        u, v, q, k = compute_uvqk(x, norm_weight, norm_bias, weight, bias, eps, dims)
        return u, ht.attention(q, k, v, seq_offsets, max_seq_len, **mask, padded=padded), k, v
    named: dict[str, Any] = {"num_heads": heads, "attn_dim": attn_dim, "hidden_dim": hidden_dim}
    uvqk, out = ops.preprocess_and_attention(
        x, norm_weight, norm_bias, weight, bias, seq_offsets, max_seq_len, **named, eps=number(eps), **mask
    )
    width, narrow = heads * hidden_dim, heads * attn_dim
    u, v, _, k = torch.split_with_sizes(uvqk, [width, width, narrow, narrow], 1)
    return u, out, by_heads(k, heads, attn_dim), by_heads(v, heads, hidden_dim)


def _norm(attn: Tensor, weight: Tensor, bias: Tensor, eps: float, num_groups: int) -> Tensor:
    if num_groups == 0:
        return ht.layer_norm(attn, weight, bias, eps=number(eps))
    groups = by_heads(attn, num_groups, attn.size(1) // num_groups)
    normed = ht.layer_norm(groups.reshape(-1, groups.size(2)), eps=number(eps)).view_as(groups)
    return (normed * weight[:, None] + bias[:, None]).flatten(1)


def _times(u: Tensor, activation: Activation) -> Tensor:
    if activation == Activation.SILU:
        return F.silu(u)
    return torch.sigmoid(u) if activation == Activation.SIGMOID else u


def norm_mul(
    attn: Tensor,
    u: Tensor,
    weight: Tensor,
    bias: Tensor,
    eps: float,
    *,
    activation: Activation = Activation.NONE,
    concat_u: bool = False,
    concat_x: bool = False,
    num_groups: int = 0,
) -> Tensor:
    """[u | attn | act(u) * norm(attn)], with the segments that are asked for; see hstujit.torch.ops.norm_mul."""
    options: dict[str, Any] = {"activation": activation, "concat_u": concat_u, "concat_x": concat_x, "num_groups": num_groups}
    if not records_gradient(attn, u, weight, bias) or _has_gradient("norm_mul"):
        return ht.norm_mul(attn, u, weight, bias, eps=number(eps), **options)
    if num_groups > 0:  # where segments come together or not at all, and the activation is not read
        concat_u = concat_x = concat_u and concat_x
        activation = Activation.NONE
    out = _times(u, activation) * _norm(attn, weight, bias, eps, num_groups)
    parts = [*([u] if concat_u else []), *([attn] if concat_x else []), out]
    return torch.cat(parts, 1) if len(parts) > 1 else out


def compute_output(
    attn: Tensor,
    u: Tensor,
    residual: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    output_weight: Tensor,
    eps: float,
    *,
    dropout_ratio: float = 0.0,
    activation: Activation = Activation.NONE,
    concat_u: bool = True,
    concat_x: bool = True,
    num_groups: int = 0,
) -> Tensor:
    """residual + dropout(norm_mul(attn, u)) output_weight.

    dropout_ratio  of PyTorch's dropout, whose bits come from its generator of the device; 0: none
    """
    options: dict[str, Any] = {"activation": activation, "concat_u": concat_u, "concat_x": concat_x, "num_groups": num_groups}
    if dropout_ratio == 0 and not records_gradient(attn, u, residual, norm_weight, norm_bias, output_weight):
        return ops.compute_output(attn, u, residual, norm_weight, norm_bias, output_weight, output_eps=number(eps), **options)
    y = norm_mul(attn, u, norm_weight, norm_bias, eps, **options)
    if dropout_ratio > 0:
        y = F.dropout(y, dropout_ratio)
    return addmm(y, output_weight, residual=residual)
