"""meta-recsys/generative-recommenders: ops/hstu_attention.py, hstu_compute.py, jagged_tensors.py, layer_norm.py, position.py,
mm.py and modules/stu.py. See docs/switching/generative_recommenders.md for every argument."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .. import _jagged, _stages
from .. import torch as ht
from .._errors import Status, Unsupported
from .._stages import ACTIVATIONS, invalid, number
from ..enums import Activation, TimeBucketFn
from ..nn import STU, STULayer, STULayerConfig, STUStack

__all__ = [
    "STU",
    "LayerNorm",
    "RMSNorm",
    "RMSNormSilu",
    "STULayer",
    "STULayerConfig",
    "STUStack",
    "SwishLayerNorm",
    "add_timestamp_positional_embeddings",
    "addmm",
    "concat_2D_jagged",
    "concat_2D_jagged_multirow",
    "delta_hstu_mha",
    "hstu_compute_output",
    "hstu_compute_uqvk",
    "hstu_concat_l2_embeddings",
    "hstu_mha",
    "hstu_mha_cuda",
    "hstu_preprocess_and_attention",
    "hstu_split_l2_embeddings",
    "jagged_dense_bmm_broadcast_add",
    "layer_norm",
    "rms_norm",
    "split_2D_jagged",
    "split_2D_jagged_multirow",
    "swish_layer_norm",
]


def only_causal(causal: bool) -> None:
    """Refuses attention that is not causal."""
    if causal is not True:
        raise Unsupported("causal: only causal attention has contexts and targets", Status.UNSUPPORTED, "causal")


def no_dropout(dropout_pr: float, training: bool) -> None:
    """Refuses dropout of attention weights."""
    if training and dropout_pr > 0:
        raise Unsupported(f"dropout_pr = {dropout_pr}: attention has no dropout", Status.UNSUPPORTED, "dropout_pr")


def _row_scale(attn_scale: Tensor | None) -> Tensor | None:
    return None if attn_scale is None else attn_scale.reshape(-1).to(torch.float32)


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
    attn_scale: Tensor | None = None,
    max_attn_len: int = 0,
    contextual_seq_len: int = 0,
    min_full_attn_seq_len: int = 0,
    sort_by_length: bool = False,
    kernel: object = None,
    enable_tma: bool = False,
) -> Tensor:
    """Attention: hstujit.torch.attention, [total, num_heads, head dim of v]."""
    only_causal(causal)
    no_dropout(dropout_pr, training)
    return ht.attention(
        q,
        k,
        v,
        seq_offsets,
        max_seq_len,
        alpha=number(alpha),
        attn_scale=_row_scale(attn_scale),
        num_targets=num_targets,
        max_attn_len=max_attn_len,
        contextual_seq_len=contextual_seq_len,
        min_full_attn_seq_len=min_full_attn_seq_len,
    )


def hstu_mha_cuda(
    max_seq_len: int,
    alpha: float,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    seq_offsets: Tensor,
    num_targets: Tensor | None = None,
    max_attn_len: int = 0,
    contextual_seq_len: int = 0,
) -> Tensor:
    """hstu_mha with fewer arguments."""
    return hstu_mha(
        max_seq_len,
        alpha,
        q,
        k,
        v,
        seq_offsets,
        num_targets=num_targets,
        max_attn_len=max_attn_len,
        contextual_seq_len=contextual_seq_len,
    )


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
) -> Tensor:
    """Attention of the last rows of each sequence: hstujit.torch.delta_attention."""
    return ht.delta_attention(
        delta_q,
        k,
        v,
        seq_offsets,
        max_seq_len,
        alpha=number(alpha),
        num_targets=num_targets,
        max_attn_len=max_attn_len,
        contextual_seq_len=contextual_seq_len,
    )


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
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Norm and projection: u with SiLU applied, then q, k and v by heads."""
    dims = (num_heads, attn_dim, hidden_dim)
    u, v, q, k = _stages.compute_uvqk(x, norm_weight, norm_bias, uvqk_weight, uvqk_bias, norm_eps, dims)
    return u, q, k, v


def activation_of(mul_u_activation_type: str) -> Activation:
    """The activation of a name of the source."""
    if mul_u_activation_type not in ACTIVATIONS:
        raise invalid("mul_u_activation_type", f"{mul_u_activation_type!r} is not one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[mul_u_activation_type]


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
    concat_u: bool,
    concat_x: bool,
    mul_u_activation_type: str,
    group_norm: bool,
    recompute_y_in_backward: bool,
    kernel: object = None,
) -> Tensor:
    """Norm, gate, projection and residual: [total, columns of x]."""
    if num_heads * linear_dim != attn.size(1):
        raise invalid("linear_dim", f"{num_heads} heads of {linear_dim} columns are not attn's {attn.size(1)}")
    return _stages.compute_output(
        attn,
        u,
        x,
        norm_weight,
        norm_bias,
        output_weight,
        norm_eps,
        dropout_ratio=dropout_ratio if training else 0.0,
        activation=activation_of(mul_u_activation_type),
        concat_u=concat_u,
        concat_x=concat_x,
        num_groups=num_heads if group_norm else 0,
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
    enable_tma: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Norm, projection and attention: u, attention [total, num_heads * hidden_dim], k and v.

    k and v are columns of one buffer, and are there whether prefill is set or not.
    """
    only_causal(causal)
    mask = {
        "alpha": number(attn_alpha),
        "num_targets": num_targets,
        "max_attn_len": max_attn_len,
        "contextual_seq_len": contextual_seq_len,
    }
    dims = (num_heads, attn_dim, hidden_dim)
    weights = (norm_weight, norm_bias, uvqk_weight, uvqk_bias)
    u, attn, k, v = _stages.preprocess_and_attention(x, *weights, norm_eps, dims, seq_offsets, max_seq_len, mask)
    return u, attn.flatten(1), k, v


def concat_2D_jagged(  # noqa: N802
    max_seq_len: int,
    values_left: Tensor,
    values_right: Tensor,
    max_len_left: int | None = None,
    max_len_right: int | None = None,
    offsets_left: Tensor | None = None,
    offsets_right: Tensor | None = None,
    kernel: object = None,
) -> Tensor:
    """Two jagged tensors joined sequence by sequence: hstujit.torch.concat_2d_jagged, with gradients."""
    return _jagged.concat(values_left, values_right, offsets_left, offsets_right, max_len_left or 0, max_len_right or 0)


def concat_2D_jagged_multirow(  # noqa: N802
    max_seq_len: int,
    values_left: Tensor,
    values_right: Tensor,
    offsets_left: Tensor | None,
    offsets_right: Tensor | None,
    max_len_left: int,
    max_len_right: int,
    kernel: object = None,
) -> Tensor:
    """concat_2D_jagged with another order of arguments."""
    return concat_2D_jagged(max_seq_len, values_left, values_right, max_len_left, max_len_right, offsets_left, offsets_right)


def _left_rows(
    values: Tensor,
    total_left: int | None,
    total_right: int | None,
    max_len_left: int | None,
    max_len_right: int | None,
    offsets_left: Tensor | None,
    offsets_right: Tensor | None,
) -> int:
    """How many rows go to the left; read from its offsets where nothing else says it."""
    if total_left is not None:
        return total_left
    if total_right is not None:
        return values.size(0) - total_right
    if offsets_left is None:
        if offsets_right is None or max_len_left is None:
            raise invalid("offsets_left", "absent, it needs max_len_left and offsets_right")
        return max_len_left * (offsets_right.size(0) - 1)
    if offsets_right is None:
        if max_len_right is None:
            raise invalid("offsets_right", "absent, it needs max_len_right")
        return values.size(0) - max_len_right * (offsets_left.size(0) - 1)
    return int(offsets_left[-1])


def split_2D_jagged(  # noqa: N802
    max_seq_len: int,
    values: Tensor,
    total_len_left: int | None = None,
    total_len_right: int | None = None,
    max_len_left: int | None = None,
    max_len_right: int | None = None,
    offsets_left: Tensor | None = None,
    offsets_right: Tensor | None = None,
    kernel: object = None,
) -> tuple[Tensor, Tensor]:
    """The inverse of concat_2D_jagged: hstujit.torch.split_2d_jagged, with gradients.

    With both offsets and without a total it reads offsets_left's last on the host, as the source does.
    """
    left = _left_rows(values, total_len_left, total_len_right, max_len_left, max_len_right, offsets_left, offsets_right)
    return _jagged.split(values, left, offsets_left, offsets_right, max_len_left or 0, max_len_right or 0)


def split_2D_jagged_multirow(  # noqa: N802
    max_seq_len: int,
    values: Tensor,
    total_len_left: int | None = None,
    total_len_right: int | None = None,
    max_len_left: int | None = None,
    max_len_right: int | None = None,
    offsets_left: Tensor | None = None,
    offsets_right: Tensor | None = None,
    kernel: object = None,
) -> tuple[Tensor, Tensor]:
    """split_2D_jagged."""
    return split_2D_jagged(
        max_seq_len, values, total_len_left, total_len_right, max_len_left, max_len_right, offsets_left, offsets_right
    )


def hstu_split_l2_embeddings(
    max_seq_len: int,
    x: Tensor,
    prefix_offsets: Tensor,
    l2_offsets: Tensor,
    contextual_seq_len: int,
    kernel: object = None,
) -> tuple[Tensor, Tensor]:
    """x as prefix and l2 rows; the first contextual_seq_len rows of each sequence are l2's.

    It reads prefix_offsets' last on the host, as the source does.
    """
    left = int(prefix_offsets[-1])
    return _jagged.split(x, left, prefix_offsets, l2_offsets, prefix=contextual_seq_len)


def hstu_concat_l2_embeddings(
    max_prefix_len: int,
    prefix_x: Tensor,
    prefix_offsets: Tensor,
    max_l2_len: int,
    l2_x: Tensor,
    l2_offsets: Tensor,
    contextual_seq_len: int,
    kernel: object = None,
) -> Tensor:
    """The inverse of hstu_split_l2_embeddings."""
    return _jagged.concat(prefix_x, l2_x, prefix_offsets, l2_offsets, prefix=contextual_seq_len)


def jagged_dense_bmm_broadcast_add(
    max_seq_len: int, seq_offsets: Tensor, jagged: Tensor, dense: Tensor, bias: Tensor, kernel: object = None
) -> Tensor:
    """Each sequence's rows by a matrix of its own, and a bias: hstujit.torch.jagged_dense_bmm_broadcast_add."""
    return ht.jagged_dense_bmm_broadcast_add(jagged, dense, seq_offsets, bias)


def _matrix(x: Tensor) -> Tensor:
    return x if x.dim() == 2 else x.reshape(-1, x.size(-1))


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5, kernel: object = None) -> Tensor:
    """hstujit.torch.layer_norm over the last dimension."""
    return ht.layer_norm(_matrix(x), weight, bias, eps=number(eps)).view(x.shape)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-5, kernel: object = None, silu: bool = False) -> Tensor:
    """hstujit.torch.rms_norm over the last dimension."""
    activation = Activation.SILU if silu else Activation.NONE
    return ht.rms_norm(_matrix(x), weight, eps=number(eps), activation=activation).view(x.shape)


def swish_layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5, kernel: object = None) -> Tensor:
    """hstujit.torch.swish_layer_norm over the last dimension."""
    return _stages.swish_layer_norm(_matrix(x), weight, bias, eps).view(x.shape)


class _NormWithBias(nn.Module):
    """A norm with parameters weight and bias [dim]."""

    def __init__(self, dim: int, eps: float = 1e-5, is_inference: bool = False) -> None:
        super().__init__()
        self._eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))


class LayerNorm(_NormWithBias):
    """layer_norm with parameters weight and bias [dim]."""

    def forward(self, x: Tensor) -> Tensor:
        """x [..., dim]."""
        return layer_norm(x, self.weight, self.bias, self._eps)


class RMSNorm(nn.Module):
    """rms_norm with a parameter weight [dim]."""

    _silu = False

    def __init__(self, dim: int, eps: float = 1e-5, is_inference: bool = False) -> None:
        super().__init__()
        self._eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        """x [..., dim]."""
        return rms_norm(x, self.weight, self._eps, silu=self._silu)


class RMSNormSilu(RMSNorm):
    """RMSNorm, then SiLU."""

    _silu = True


class SwishLayerNorm(_NormWithBias):
    """swish_layer_norm with parameters weight and bias [dim]."""

    def forward(self, x: Tensor) -> Tensor:
        """x [..., dim]."""
        return swish_layer_norm(x, self.weight, self.bias, self._eps)


def bucket_fn(time_bucket_fn: str) -> TimeBucketFn:
    """The function of a name of the source."""
    known = {"sqrt": TimeBucketFn.SQRT, "log": TimeBucketFn.LOG}
    if time_bucket_fn not in known:
        raise invalid("time_bucket_fn", f"{time_bucket_fn!r} is neither 'sqrt' nor 'log'")
    return known[time_bucket_fn]


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
    kernel: object = None,
) -> Tensor:
    """Embeddings of positions and ages added: hstujit.torch.add_timestamp_positional_embeddings."""
    return ht.add_timestamp_positional_embeddings(
        seq_embeddings,
        position_embeddings_weight,
        timestamp_embeddings_weight,
        seq_offsets,
        timestamps.to(torch.int64),
        num_targets=num_targets,
        alpha=number(alpha),
        time_bucket_fn=bucket_fn(time_bucket_fn),
        max_contextual_seq_len=max_contextual_seq_len,
        interleave_targets=interleave_targets,
    )


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, kernel: object = None) -> Tensor:
    """input + mat1 mat2; input is a row [n] or a matrix [m, n], as torch.addmm takes it."""
    if input.dim() == 1:
        return _stages.addmm(mat1, mat2, bias=input)
    if input.size(0) == 1 and mat1.size(0) != 1:
        return _stages.addmm(mat1, mat2, bias=input[0])
    return _stages.addmm(mat1, mat2, residual=input)
