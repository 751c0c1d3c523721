"""The enums of the C API, as operators take them: an argument `mask: int` is a Mask, and so on."""

from __future__ import annotations

from enum import IntEnum

EXACT_ZERO = -0.0
"""Exactly 0, in an argument whose 0 means a default: eps, alpha, amin."""


class Activation(IntEnum):
    """hstu_activation, of `activation`."""

    NONE = 0
    SILU = 1
    SIGMOID = 2
    GELU = 3
    GELU_TANH = 4


class Mask(IntEnum):
    """hstu_mask, of `mask`."""

    CAUSAL = 0
    FULL = 1
    LOCAL = 2
    INTERVALS = 3


class Norm(IntEnum):
    """hstu_norm, of `norm` and `input_norm`."""

    LAYER = 0
    RMS = 1
    SWISH = 2


class DropoutStream(IntEnum):
    """hstu_dropout_stream, of `dropout_stream`."""

    COMPAT = 0
    FAST = 1
    MASKS = 2
    ROWS = 3


class Fp8Scaling(IntEnum):
    """hstu_fp8_scaling, of `scaling`, `x_scaling` and `w_scaling`."""

    TENSOR = 0
    ROW = 1
    GROUP = 2
    BLOCK = 3


class Fp8AttentionScaling(IntEnum):
    """hstu_fp8_attention_scaling, of attention_fp8's `scaling`."""

    TENSOR = 0
    HEAD = 1
    SEQUENCE = 2
    BLOCK = 3


class Fp8Accumulation(IntEnum):
    """hstu_fp8_accumulation, of `accumulation`."""

    SUMS_OF_128 = 0
    FAST = 1


class TimeBucketFn(IntEnum):
    """hstu_time_bucket_fn, of `time_bucket_fn`."""

    SQRT = 0
    LOG = 1


class Determinism(IntEnum):
    """hstu_determinism, of `determinism`."""

    DETERMINISTIC = 0
    FASTEST = 1
