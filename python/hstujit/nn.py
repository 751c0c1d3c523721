"""Modules: the layers of generative-recommenders, and those of triton-fused-ops, on hstujit's operators.

STULayer and STUStack have the parameters of their namesakes, so that the `state_dict` of a model of theirs loads. They run
in float32, bfloat16 or float16 (float64 on the CPU); weights are cast to the type of the activations in each call, and get
gradients in their own. Under autocast the activations are cast to its type first.

Every module raises hstujit.Error of the operator that refused, which names the argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from . import _stages
from . import torch as ht
from ._errors import Failed, Status, Unsupported, no_gradient
from ._stages import invalid, records_gradient
from .enums import Activation, Fp8Scaling
from .torch import ops

__all__ = ["STU", "FP8Linear", "FusedGatedMLP", "FusedRMSNormRoPE", "STULayer", "STULayerConfig", "STUStack"]

_EPS = 1e-6  # of both norms of a layer, as in its source
_WEIGHTS = (  # arguments of the operator `stack`, and a layer's parameters
    ("norm_weight", "_input_norm_weight"),
    ("norm_bias", "_input_norm_bias"),
    ("uvqk_weight", "_uvqk_weight"),
    ("uvqk_bias", "_uvqk_beta"),
    ("output_norm_weight", "_output_norm_weight"),
    ("output_norm_bias", "_output_norm_bias"),
    ("output_weight", "_output_weight"),
)


def _activations(x: Tensor) -> Tensor:
    """x in autocast's type, where autocast is on."""
    kind = x.device.type
    if torch.is_autocast_enabled(kind) and x.dtype != torch.float64:
        return x.to(torch.get_autocast_dtype(kind))
    return x


class STU(nn.Module, ABC):
    """What layers and stacks have in common. Source: meta-recsys/generative-recommenders, modules/stu.py."""

    @abstractmethod
    def forward(
        self,
        x: Tensor,
        x_lengths: Tensor | None,
        x_offsets: Tensor,
        max_seq_len: int,
        num_targets: Tensor | None,
        max_kv_caching_len: int = 0,
        kv_caching_lengths: Tensor | None = None,
    ) -> Tensor:
        """See STULayer.forward."""

    def cached_forward(
        self,
        delta_x: Tensor,
        num_targets: Tensor | None,
        max_kv_caching_len: int = 0,
        kv_caching_lengths: Tensor | None = None,
    ) -> Tensor:
        """See STULayer.cached_forward; modules without a cache leave it as it is."""
        raise NotImplementedError(f"{type(self).__name__} has no cached_forward")

    def reset_kv_cache(self) -> None:
        """Forgets the cached keys and values, where there are any."""


@dataclass
class STULayerConfig:
    """What a layer is made with. The last three are of this library, the others have the names and defaults of the source.

    embedding_dim         columns of x
    num_heads             of attention
    hidden_dim            of v and u, a head
    attention_dim         of q and k, a head
    output_dropout_ratio  in training, before the output projection
    causal                True; anything else is refused, as in the source
    target_aware          whether num_targets is read
    max_attn_len          how many previous rows a row sees; None or 0: all
    attn_alpha            scale of q . k; None or 0: 1 / sqrt(attention_dim)
    use_group_norm        the output norm has a group for each head
    recompute_normed_x, recompute_uvqk, recompute_y
                          ignored: what a gradient needs is kept. The result is the same, the memory is not
    sort_by_length        ignored: attention runs from long to short rows by itself
    contextual_seq_len    rows at the beginning of each sequence that see all of its history
    scaling_seqlen        divisor of attention; 0: max_seq_len of each call
    min_full_attn_seq_len with max_attn_len: the last so many history rows are exempt
    padded                x may have rows behind the last sequence, as in batches of one static size; they are finite. With
                          gradients their attention is 0 then; else it is whatever was in that memory, and gradients of
                          weights read it
    """

    embedding_dim: int
    num_heads: int
    hidden_dim: int
    attention_dim: int
    output_dropout_ratio: float = 0.3
    causal: bool = True
    target_aware: bool = True
    max_attn_len: int | None = None
    attn_alpha: float | None = None
    use_group_norm: bool = False
    recompute_normed_x: bool = True
    recompute_uvqk: bool = True
    recompute_y: bool = True
    sort_by_length: bool = True
    contextual_seq_len: int = 0
    scaling_seqlen: int = 0
    min_full_attn_seq_len: int = 0
    padded: bool = False


class STULayer(STU):
    """One HSTU layer: norm, projection, attention over jagged sequences, gate, norm, projection, residual.

    config        see STULayerConfig
    is_inference  kept for the source's signature, without effect: gradients are recorded where grad mode asks for them

    Without gradients the layer is one call of the operator `stack`; with them it is made of hstujit's layer norm and
    attention, and of PyTorch's products as long as those operators record no gradient. Both ways differ by roundings.
    Source: meta-recsys/generative-recommenders, STULayer (Zhai et al. 2024, arXiv:2402.17152).
    """

    k_cache: Tensor | None
    v_cache: Tensor | None
    kv_caching_offsets: Tensor | None
    max_kv_caching_len: int

    def __init__(self, config: STULayerConfig, is_inference: bool = False) -> None:
        super().__init__()
        if config.causal is not True:
            raise Unsupported("causal: only causal attention has contexts and targets", Status.UNSUPPORTED, "causal")
        self._is_inference = is_inference
        self._embedding_dim = config.embedding_dim
        self._num_heads = config.num_heads
        self._hidden_dim = config.hidden_dim
        self._attention_dim = config.attention_dim
        self._output_dropout_ratio = config.output_dropout_ratio
        self._target_aware = config.target_aware
        self._max_attn_len = config.max_attn_len or 0
        self._attn_alpha = config.attn_alpha or 1.0 / config.attention_dim**0.5
        self._use_group_norm = config.use_group_norm
        self._contextual_seq_len = config.contextual_seq_len
        self._scaling_seqlen = config.scaling_seqlen
        self._min_full_attn_seq_len = config.min_full_attn_seq_len
        self._padded = config.padded
        self.reset_kv_cache()

        columns = 2 * config.num_heads * (config.hidden_dim + config.attention_dim)
        normed = config.num_heads if config.use_group_norm else config.num_heads * config.hidden_dim
        self._uvqk_weight = nn.Parameter(torch.empty(config.embedding_dim, columns))
        self._uvqk_beta = nn.Parameter(torch.empty(columns))
        self._input_norm_weight = nn.Parameter(torch.empty(config.embedding_dim))
        self._input_norm_bias = nn.Parameter(torch.empty(config.embedding_dim))
        self._output_weight = nn.Parameter(torch.empty(3 * config.num_heads * config.hidden_dim, config.embedding_dim))
        self._output_norm_weight = nn.Parameter(torch.empty(normed))
        self._output_norm_bias = nn.Parameter(torch.empty(normed))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier-uniform projections, norms that change nothing."""
        nn.init.xavier_uniform_(self._uvqk_weight)
        nn.init.xavier_uniform_(self._output_weight)
        nn.init.ones_(self._input_norm_weight)
        nn.init.ones_(self._output_norm_weight)
        for bias in (self._uvqk_beta, self._input_norm_bias, self._output_norm_bias):
            nn.init.zeros_(bias)

    def extra_repr(self) -> str:
        """What print(layer) shows."""
        return (
            f"embedding_dim={self._embedding_dim}, num_heads={self._num_heads}, hidden_dim={self._hidden_dim}, "
            f"attention_dim={self._attention_dim}"
        )

    # ---- the cache

    def reset_kv_cache(self) -> None:
        """Forgets the cached keys and values."""
        self.k_cache = None
        self.v_cache = None
        self.kv_caching_offsets = None
        self.max_kv_caching_len = 0

    def update_kv_cache(
        self,
        max_seq_len: int,
        seq_offsets: Tensor,
        k: Tensor | None,
        v: Tensor | None,
        max_kv_caching_len: int,
        kv_caching_lengths: Tensor | None,
    ) -> None:
        """Keeps the first kv_caching_lengths[b] rows of k and v of each sequence; without lengths nothing changes.

        k, v  [total, num_heads, dim], rows as seq_offsets has them. Lengths are read on the host, as in the source.
        """
        if kv_caching_lengths is None:
            return
        if k is None or v is None:
            raise invalid("k", "a cache of kv_caching_lengths needs k and v")
        offsets = ops.complete_cumsum(kv_caching_lengths)
        total = int(offsets[-1])
        others = seq_offsets - offsets
        named: dict[str, Any] = {"offsets_left": offsets, "offsets_right": others}
        self.k_cache = ops.split_2d_jagged(k.flatten(1), total, **named)[0]
        self.v_cache = ops.split_2d_jagged(v.flatten(1), total, **named)[0]
        self.kv_caching_offsets = offsets
        self.max_kv_caching_len = max_kv_caching_len or int(kv_caching_lengths.max())

    def construct_full_kv(self, delta_k: Tensor, delta_v: Tensor) -> tuple[Tensor, Tensor, int, Tensor]:
        """The cache followed by as many new rows for each sequence: k, v, the longest length, offsets.

        delta_k, delta_v  [batch * new rows, num_heads * dim]
        """
        k_cache, v_cache, offsets = self.k_cache, self.v_cache, self.kv_caching_offsets
        if k_cache is None or v_cache is None or offsets is None:
            raise Failed("kv_caching_lengths: nothing is cached; call forward with them first", Status.NOT_READY)
        batch = offsets.size(0) - 1
        if delta_k.size(0) % batch:
            raise invalid("delta_x", f"{delta_k.size(0)} rows are not as many for each of {batch} sequences")
        new = delta_k.size(0) // batch
        named: dict[str, Any] = {"offsets_left": offsets, "max_len_right": new}
        k = ops.concat_2d_jagged(k_cache, delta_k, **named)
        v = ops.concat_2d_jagged(v_cache, delta_v, **named)
        full = offsets + new * torch.arange(batch + 1, device=offsets.device, dtype=offsets.dtype)
        return k, v, self.max_kv_caching_len + new, full

    # ---- what forwards are made of

    def _mask(self, num_targets: Tensor | None, intervals: Tensor | None = None) -> dict[str, Any]:
        """The arguments of attention that the configuration sets."""
        common = {"alpha": _stages.number(self._attn_alpha), "scaling_seqlen": self._scaling_seqlen}
        if intervals is not None:
            return common | {"mask": 3, "intervals": intervals}
        return common | {
            "num_targets": num_targets if self._target_aware else None,
            "max_attn_len": self._max_attn_len,
            "contextual_seq_len": self._contextual_seq_len,
            "min_full_attn_seq_len": self._min_full_attn_seq_len,
        }

    @property
    def _dims(self) -> tuple[int, int, int]:
        return self._num_heads, self._attention_dim, self._hidden_dim

    def _weights(self, dtype: torch.dtype) -> dict[str, Tensor]:
        """Parameters under the names of the operator `stack`."""
        own = self._parameters
        weights = {}
        for name, attribute in _WEIGHTS:
            weight = own.get(attribute)
            if weight is None:  # a parametrisation has it
                weight = getattr(self, attribute)
            weights[name] = weight if weight.dtype == dtype else weight.to(dtype)
        return weights

    def _key(self) -> tuple[Any, ...]:
        """What layers must have in common to be one call of `stack`."""
        return (
            self._dims,
            self._embedding_dim,
            self._attn_alpha,
            self._scaling_seqlen,
            self._max_attn_len,
            self._contextual_seq_len,
            self._min_full_attn_seq_len,
            self._target_aware,
            self._use_group_norm,
        )

    def _is_plain(self, x: Tensor) -> bool:
        """Whether a forward of x can be the operator `stack`: no gradient, no dropout."""
        if self.training and self._output_dropout_ratio > 0:
            return False
        return not torch.is_grad_enabled() or not records_gradient(x, *self.parameters())

    def _output(self, attn: Tensor, u: Tensor, x: Tensor, weights: dict[str, Tensor]) -> Tensor:
        return _stages.compute_output(
            attn.flatten(1),
            u,
            x,
            weights["output_norm_weight"],
            weights["output_norm_bias"],
            weights["output_weight"],
            _EPS,
            dropout_ratio=self._output_dropout_ratio if self.training else 0.0,
            num_groups=self._num_heads if self._use_group_norm else 0,
        )

    def _layer(
        self,
        x: Tensor,
        x_offsets: Tensor,
        max_seq_len: int,
        num_targets: Tensor | None,
        max_kv_caching_len: int = 0,
        kv_caching_lengths: Tensor | None = None,
        intervals: Tensor | None = None,
    ) -> Tensor:
        x = _activations(x)
        if kv_caching_lengths is None and intervals is None and self._is_plain(x):
            return _stack([self], x, x_offsets, max_seq_len, num_targets)
        weights = self._weights(x.dtype)
        u, attn, k, v = _stages.preprocess_and_attention(
            x,
            weights["norm_weight"],
            weights["norm_bias"],
            weights["uvqk_weight"],
            weights["uvqk_bias"],
            _EPS,
            self._dims,
            x_offsets,
            max_seq_len,
            self._mask(num_targets, intervals),
            padded=self._padded,
        )
        if kv_caching_lengths is not None:
            with torch.no_grad():
                self.update_kv_cache(max_seq_len, x_offsets, k.detach(), v.detach(), max_kv_caching_len, kv_caching_lengths)
        return self._output(attn, u, x, weights)

    def forward(
        self,
        x: Tensor,
        x_lengths: Tensor | None,
        x_offsets: Tensor,
        max_seq_len: int,
        num_targets: Tensor | None,
        max_kv_caching_len: int = 0,
        kv_caching_lengths: Tensor | None = None,
    ) -> Tensor:
        """The layer's result, [total, embedding_dim] of x's dtype.

        x                   [total, embedding_dim]: sequences one behind another. Rows behind the last give anything; with
                            gradients there are none unless the configuration says padded
        x_lengths           not read: x_offsets has the lengths
        x_offsets           [batch + 1] i32 or i64
        max_seq_len         longest sequence that is expected, > 0; the divisor of attention unless scaling_seqlen is set
        num_targets         None or [batch] i32 or i64: the last rows of each sequence that are targets
        kv_caching_lengths  None or [batch] i32 or i64: the first so many rows of each sequence are kept for cached_forward
        max_kv_caching_len  the greatest of them; 0: read from the tensor
        """
        return self._layer(x, x_offsets, max_seq_len, num_targets, max_kv_caching_len, kv_caching_lengths)

    def cached_forward(
        self,
        delta_x: Tensor,
        num_targets: Tensor | None,
        max_kv_caching_len: int = 0,
        kv_caching_lengths: Tensor | None = None,
    ) -> Tensor:
        """The result for new rows behind those that a forward with kv_caching_lengths kept.

        delta_x             [batch * new rows, embedding_dim]: as many rows for each sequence
        num_targets         None or [batch]: the last rows of each whole sequence that are targets
        kv_caching_lengths  None: the cache stays. [batch]: it is replaced by the first so many rows of the whole sequences

        The divisor of attention is the greatest cached length and the new rows, unless scaling_seqlen is set, as in the
        source: that of the prefill differs from it. Records no gradient: raises NotImplementedError where one is needed.
        """
        if records_gradient(delta_x, *self.parameters()):
            raise no_gradient("STULayer.cached_forward")
        x = _activations(delta_x)
        weights = self._weights(x.dtype)
        u, v, q, k = _stages.compute_uvqk(
            x, weights["norm_weight"], weights["norm_bias"], weights["uvqk_weight"], weights["uvqk_bias"], _EPS, self._dims
        )
        full_k, full_v, max_seq_len, offsets = self.construct_full_kv(k.flatten(1), v.flatten(1))
        full_k = _stages.by_heads(full_k, self._num_heads, self._attention_dim)
        full_v = _stages.by_heads(full_v, self._num_heads, self._hidden_dim)
        self.update_kv_cache(max_seq_len, offsets, full_k, full_v, max_kv_caching_len, kv_caching_lengths)
        attn = ops.delta_attention(q, full_k, full_v, offsets, max_seq_len, **self._mask(num_targets))
        return self._output(attn, u, x, weights)


def _stack(layers: list[STULayer], x: Tensor, x_offsets: Tensor, max_seq_len: int, num_targets: Tensor | None) -> Tensor:
    """Layers of the same options as one call."""
    each = [layer._weights(x.dtype) for layer in layers]
    first = layers[0]
    heads, attn_dim, hidden_dim = first._dims
    weights: dict[str, Any] = {name: [one[name] for one in each] for name in each[0]}
    return ops.stack(
        x,
        **weights,
        **first._mask(num_targets),
        seq_offsets=x_offsets,
        max_seq_len=max_seq_len,
        num_heads=heads,
        attn_dim=attn_dim,
        hidden_dim=hidden_dim,
        num_groups=heads if first._use_group_norm else 0,
        concat_u=True,
        concat_x=True,
        eps=_EPS,
        output_eps=_EPS,
    )


class STUStack(STU):
    """Layers one behind another. Layers of equal configurations, without gradients, dropout and a cache to fill, are one
    call of the operator `stack`.

    stu_list      the layers, STULayer or others
    is_inference  kept for the source's signature, without effect
    Source: meta-recsys/generative-recommenders, STUStack.
    """

    def __init__(self, stu_list: list[STU], is_inference: bool = False) -> None:
        super().__init__()
        self._is_inference = is_inference
        self._stu_layers = nn.ModuleList(stu_list)

    def _as_one(self, x: Tensor) -> list[STULayer]:
        """The layers, if they can be one call for x; else none."""
        layers: list[STULayer] = []
        for layer in self._stu_layers:
            # Hooks of a layer must run: those that gather its parameters, for one.
            if type(layer) is not STULayer or layer._forward_hooks or layer._forward_pre_hooks or not layer._is_plain(x):
                return []
            layers.append(layer)
        return layers if all(layer._key() == layers[0]._key() for layer in layers[1:]) else []

    def reset_kv_cache(self) -> None:
        """Forgets the cached keys and values of every layer."""
        for layer in self._stu_layers:
            layer.reset_kv_cache()  # type: ignore[operator]

    def forward(
        self,
        x: Tensor,
        x_lengths: Tensor | None,
        x_offsets: Tensor,
        max_seq_len: int,
        num_targets: Tensor | None,
        max_kv_caching_len: int = 0,
        kv_caching_lengths: Tensor | None = None,
    ) -> Tensor:
        """The last layer's result; arguments are those of STULayer.forward."""
        if kv_caching_lengths is None:
            x = _activations(x)
            layers = self._as_one(x)
            if layers:
                return _stack(layers, x, x_offsets, max_seq_len, num_targets)
        for layer in self._stu_layers:
            x = layer(x, x_lengths, x_offsets, max_seq_len, num_targets, max_kv_caching_len, kv_caching_lengths)
        return x

    def cached_forward(
        self,
        delta_x: Tensor,
        num_targets: Tensor | None,
        max_kv_caching_len: int = 0,
        kv_caching_lengths: Tensor | None = None,
    ) -> Tensor:
        """The last layer's result for new rows; arguments are those of STULayer.cached_forward."""
        x = delta_x
        for layer in self._stu_layers:
            x = layer.cached_forward(x, num_targets, max_kv_caching_len, kv_caching_lengths)  # type: ignore[operator]
        return x


class FP8Linear(nn.Module):
    """A linear layer whose product is in FP8: x [..., in_features] -> [..., out_features], of x's dtype.

    in_features, out_features, bias
               as torch.nn.Linear has them
    x_scaling  ROW, or GROUP, a scale per 128 columns of a row
    w_scaling  of the weight: any of Fp8Scaling

    `weight` [out_features, in_features] is quantised to e4m3 at the first forward, and again when it has changed; the
    result lies in the buffers weight_fp8 and weight_scale (weight = weight_fp8 * weight_scale in each unit), which are no
    part of the state_dict. Under torch.compile call quantize_weights() before: a compiled forward takes what is there.
    There is no gradient: where one is needed it raises NotImplementedError.
    Source: LessUp/triton-fused-ops, FP8Linear (which quantises linearly to 8 bits, and its x as a whole).
    """

    weight_fp8: Tensor | None
    weight_scale: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = False,
        *,
        x_scaling: Fp8Scaling = Fp8Scaling.ROW,
        w_scaling: Fp8Scaling = Fp8Scaling.ROW,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.x_scaling = x_scaling
        self.w_scaling = w_scaling
        self.register_buffer("weight_fp8", None, persistent=False)
        self.register_buffer("weight_scale", None, persistent=False)
        self.weight = nn.Parameter(torch.empty(out_features, in_features, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype)) if bias else None
        self._quantized_from: tuple[Tensor, int] | None = None  # which memory, held so that no other gets its address; version
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Normal weights of deviation 0.02, no bias, as in the source."""
        nn.init.normal_(self.weight, std=0.02)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def extra_repr(self) -> str:
        """What print(layer) shows."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"

    def quantize_weights(self) -> None:
        """Quantises the weight, if that was not done since it changed."""
        weight = self.weight.detach()
        # Tensors of inference mode count no versions: theirs are quantised each time.
        version = -1 if weight.is_inference() else self.weight._version
        known = self._quantized_from
        if known and known[0].data_ptr() == weight.data_ptr() and known[1] == version >= 0 and self.weight_fp8 is not None:
            return
        self.weight_fp8, self.weight_scale = quantized(weight, self.w_scaling)
        self._quantized_from = (weight, version)

    def forward(self, x: Tensor) -> Tensor:
        """x weight^T + bias; x [..., in_features] in f32, bf16 or f16."""
        if records_gradient(x, self.weight, self.bias):
            raise no_gradient("FP8Linear")
        x = _activations(x)
        if not torch.compiler.is_compiling():
            self.quantize_weights()
        weight, scale = self.weight_fp8, self.weight_scale
        if weight is None or scale is None:
            raise Failed("weight: call quantize_weights() before torch.compile", Status.NOT_READY, "weight")
        out = ops.fp8_linear(
            x.reshape(-1, self.in_features),
            weight,
            scale,
            None if self.bias is None else self.bias.detach().to(x.dtype),
            x_scaling=self.x_scaling,
            w_scaling=self.w_scaling,
        )
        return out.view(*x.shape[:-1], self.out_features)


def quantized(x: Tensor, scaling: Fp8Scaling, dtype: torch.dtype = torch.float8_e4m3fn) -> tuple[Tensor, Tensor]:
    """A matrix in FP8 and its descales, f32, of the shape of `scaling`: x = q * descale in each unit."""
    amax = ops.fp8_amax(x) if scaling == Fp8Scaling.TENSOR else None
    return ops.quantize_fp8(x, scaling=scaling, amax=amax, out_dtype=dtype)


class FusedGatedMLP(nn.Module):
    """Gated products: x [..., hidden_dim] -> (x gate^T) * act(x up^T) [..., intermediate_dim], of x's dtype.

    activation  "silu" or "gelu" (the exact one)
    Parameters are gate_weight and up_weight, [intermediate_dim, hidden_dim]. There is no gradient yet: where one is needed
    it raises NotImplementedError.
    Source: LessUp/triton-fused-ops, FusedGatedMLP.
    """

    def __init__(
        self,
        hidden_dim: int,
        intermediate_dim: int,
        activation: str = "silu",
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        gated_activation(activation)
        self.hidden_dim = hidden_dim
        self.intermediate_dim = intermediate_dim
        self.activation = activation
        self.gate_weight = nn.Parameter(torch.empty(intermediate_dim, hidden_dim, device=device, dtype=dtype))
        self.up_weight = nn.Parameter(torch.empty(intermediate_dim, hidden_dim, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Normal weights of deviation 0.02, as in the source."""
        nn.init.normal_(self.gate_weight, std=0.02)
        nn.init.normal_(self.up_weight, std=0.02)

    def extra_repr(self) -> str:
        """What print(layer) shows."""
        return f"hidden_dim={self.hidden_dim}, intermediate_dim={self.intermediate_dim}, activation={self.activation}"

    def forward(self, x: Tensor) -> Tensor:
        """(x gate^T) * act(x up^T); x [..., hidden_dim] in f32, bf16 or f16."""
        x = _activations(x)
        return gated_mlp(x, self.gate_weight.to(x.dtype), self.up_weight.to(x.dtype), self.activation)


def gated_activation(name: str) -> Activation:
    """The activation of a name of the source."""
    known = {"silu": Activation.SILU, "gelu": Activation.GELU}
    if name not in known:
        raise invalid("activation", f"{name!r} is neither 'silu' nor 'gelu'")
    return known[name]


def gated_mlp(x: Tensor, gate_weight: Tensor, up_weight: Tensor, activation: str) -> Tensor:
    """FusedGatedMLP as a function, of weights in x's dtype."""
    act = gated_activation(activation)
    out = ht.gated_mlp(x.reshape(-1, x.size(-1)), gate_weight.t(), up_weight.t(), activation=act)
    return out.view(*x.shape[:-1], gate_weight.size(0))


class FusedRMSNormRoPE(nn.Module):
    """RMS norm over whole rows, then rotary embedding of each head: x [batch, length, hidden_dim] -> the same.

    hidden_dim  a multiple of head_dim
    head_dim    even
    The parameter is weight [hidden_dim]. There is no gradient yet: where one is needed it raises NotImplementedError.
    Source: LessUp/triton-fused-ops, FusedRMSNormRoPE.
    """

    def __init__(
        self,
        hidden_dim: int,
        head_dim: int,
        eps: float = 1e-6,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if head_dim <= 0 or hidden_dim % head_dim:
            raise invalid("head_dim", f"{head_dim} does not divide hidden_dim = {hidden_dim}")
        self.hidden_dim = hidden_dim
        self.head_dim = head_dim
        self.eps = eps
        self.num_heads = hidden_dim // head_dim
        self.weight = nn.Parameter(torch.ones(hidden_dim, device=device, dtype=dtype))

    def extra_repr(self) -> str:
        """What print(layer) shows."""
        return f"hidden_dim={self.hidden_dim}, head_dim={self.head_dim}, eps={self.eps}"

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """The rotated rows, of x's dtype.

        cos, sin  [length, head_dim], or [1, length, 1, head_dim]; the first half of the columns is read
        """
        return rms_norm_rope(_activations(x), self.weight, cos, sin, self.eps, self.num_heads)


def rms_norm_rope(x: Tensor, weight: Tensor, cos: Tensor, sin: Tensor, eps: float, num_heads: int | None) -> Tensor:
    """FusedRMSNormRoPE as a function; num_heads None: as many as there are."""
    if cos.dim() == 4:
        cos, sin = cos[0, :, 0], sin[0, :, 0]
    head_dim = cos.size(-1)
    if num_heads is not None and num_heads * head_dim != x.size(-1):
        raise invalid("num_heads", f"{num_heads} heads of {head_dim} columns are not x's {x.size(-1)}")
    return ht.rms_norm_rope(x, weight, cos, sin, head_dim=head_dim, eps=_stages.number(eps))
