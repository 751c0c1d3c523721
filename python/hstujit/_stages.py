"""The stages of an HSTU layer, for `hstujit.nn` and `hstujit.compat`.

Without gradients a stage is one chain of the library. With gradients, and in f64, it is made of operators of
`hstujit.torch`. SiLU of u and dropout are PyTorch's then.
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


def invalid(field: str, text: str) -> InvalidArgument:
    """What an argument is refused with, before an operator sees it."""
    return InvalidArgument(f"{field}: {text}", Status.INVALID_ARGUMENT, field)


def by_heads(t: Tensor, heads: int, dim: int) -> Tensor:
    """Columns as heads: [rows, heads * dim] -> [rows, heads, dim], where they lie."""
    return t.view(t.size(0), heads, dim)


def _by_operators(x: Tensor, *others: Tensor | None) -> bool:
    """Whether a stage must be made of operators: chains record no gradient alone, and compute in f32."""
    return x.dtype == torch.float64 or records_gradient(x, *others)


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
    if _by_operators(x, norm_weight, norm_bias, weight, bias):
        normed = ht.layer_norm(x, norm_weight, norm_bias, eps=number(eps))
        u, v, q, k = torch.split_with_sizes(ht.addmm(normed, weight, bias), columns, 1)
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
    if _by_operators(x, norm_weight, norm_bias, weight, bias, mask.get("rab"), mask.get("attn_scale")):
        u, v, q, k = compute_uvqk(x, norm_weight, norm_bias, weight, bias, eps, dims)
        return u, ht.attention(q, k, v, seq_offsets, max_seq_len, **mask, padded=padded), k, v
    named: dict[str, Any] = {"num_heads": heads, "attn_dim": attn_dim, "hidden_dim": hidden_dim}
    uvqk, out = ops.preprocess_and_attention(
        x, norm_weight, norm_bias, weight, bias, seq_offsets, max_seq_len, **named, eps=number(eps), **mask
    )
    width, narrow = heads * hidden_dim, heads * attn_dim
    u, v, _, k = torch.split_with_sizes(uvqk, [width, width, narrow, narrow], 1)
    return u, out, by_heads(k, heads, attn_dim), by_heads(v, heads, hidden_dim)


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
    if dropout_ratio == 0 and not _by_operators(attn, u, residual, norm_weight, norm_bias, output_weight):
        return ops.compute_output(attn, u, residual, norm_weight, norm_bias, output_weight, output_eps=number(eps), **options)
    y = ht.norm_mul(attn, u, norm_weight, norm_bias, eps=number(eps), **options)
    if dropout_ratio > 0:
        y = F.dropout(y, dropout_ratio)
    return ht.addmm(y, output_weight, residual=residual)
