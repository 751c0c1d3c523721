"""LessUp/triton-fused-ops: the functions and modules of `triton_ops`. See docs/switching/triton_ops.md for every argument.

FP8 here is float8_e4m3fn, where the source has 8-bit integers in equal steps. Scales mean what they mean there:
stored = x * scale.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .. import torch as ht
from .._errors import Status, UnsupportedType
from .._stages import invalid
from ..enums import Fp8Scaling
from ..nn import FP8Linear, FusedGatedMLP, FusedRMSNormRoPE, gated_mlp, quantized, rms_norm_rope

__all__ = [
    "FP8Linear",
    "FusedGatedMLP",
    "FusedRMSNormRoPE",
    "dequantize_fp8",
    "fp8_gemm",
    "fused_gated_mlp",
    "fused_rmsnorm_rope",
    "quantize_fp8",
]

_E4M3 = torch.float8_e4m3fn


def fused_rmsnorm_rope(
    x: Tensor, weight: Tensor, cos: Tensor, sin: Tensor, eps: float = 1e-6, num_heads: int | None = None
) -> Tensor:
    """RMS norm, then rotary embedding: hstujit.torch.rms_norm_rope."""
    return rms_norm_rope(x, weight, cos, sin, eps, num_heads)


def fused_gated_mlp(x: Tensor, gate_weight: Tensor, up_weight: Tensor, activation: str = "silu") -> Tensor:
    """(x gate_weight^T) * activation(x up_weight^T): hstujit.torch.gated_mlp."""
    return gated_mlp(x, gate_weight, up_weight, activation)


def _as_matrix(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1, tensor.size(-1)) if tensor.dim() > 0 else tensor.view(1, 1)


def quantize_fp8(tensor: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The tensor in float8_e4m3fn, and its scale, f32 of no dimensions: hstujit.torch.quantize_fp8."""
    rows = _as_matrix(tensor)
    if scale is None:
        q, descale = quantized(rows, Fp8Scaling.TENSOR)
        return q.view(tensor.shape), descale[0].reciprocal()
    static = scale.to(tensor.device, torch.float32).reshape(1).reciprocal()
    q, _ = ht.quantize_fp8(rows, scaling=Fp8Scaling.TENSOR, static_descale=static, out_dtype=_E4M3)
    return q.view(tensor.shape), scale


def _is_fp8(name: str, tensor: Tensor) -> bool:
    """Whether it is quantised already; the source's own format is refused."""
    if tensor.dtype == torch.uint8:
        text = f"{name}: uint8 holds 8-bit integers of the source; here FP8 is torch.float8_e4m3fn, as quantize_fp8 gives it"
        raise UnsupportedType(text, Status.UNSUPPORTED_DTYPE, name)
    return tensor.dtype == _E4M3


def dequantize_fp8(tensor: Tensor, scale: Tensor, output_dtype: torch.dtype = torch.float16) -> Tensor:
    """tensor / scale in output_dtype: hstujit.torch.dequantize_fp8."""
    _is_fp8("tensor", tensor)
    descale = scale.to(tensor.device, torch.float32).reshape(1).reciprocal()
    return ht.dequantize_fp8(_as_matrix(tensor), descale, scaling=Fp8Scaling.TENSOR, out_dtype=output_dtype).view(tensor.shape)


def _operand(name: str, matrix: Tensor, scale: Tensor | None) -> tuple[Tensor, Tensor]:
    """A matrix in FP8 with rows that are contiguous, and its descale [1]."""
    if not _is_fp8(name, matrix):
        return quantized(matrix if matrix.stride(-1) == 1 else matrix.contiguous(), Fp8Scaling.TENSOR)
    if scale is None:
        raise invalid(f"{name}_scale", f"absent, though {name} is in FP8")
    return matrix if matrix.stride(-1) == 1 else matrix.contiguous(), scale.to(matrix.device, torch.float32).reshape(
        1
    ).reciprocal()


def fp8_gemm(
    a: Tensor,
    b: Tensor,
    a_scale: Tensor | None = None,
    b_scale: Tensor | None = None,
    output_dtype: torch.dtype = torch.float16,
) -> Tensor:
    """a b in output_dtype, [m, k] [k, n]; operands that are not in FP8 are quantised: hstujit.torch.fp8_gemm."""
    x, x_descale = _operand("a", a, a_scale)
    w, w_descale = _operand("b", b.t(), b_scale)
    one = Fp8Scaling.TENSOR
    return ht.fp8_gemm(x, w, x_descale, w_descale, x_scaling=one, w_scaling=one, out_dtype=output_dtype)
