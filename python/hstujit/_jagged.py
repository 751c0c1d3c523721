"""Joining and parting jagged tensors, with gradients: each is the gradient of the other (docs/gradients.md)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ._stages import records_gradient
from .torch import ops


def _lines(gradient: Tensor) -> Tensor:
    """The gradient with a last stride of 1: that of a sum has none."""
    return gradient if gradient.stride(-1) == 1 else gradient.contiguous()


class _Concat(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, left: Tensor, right: Tensor, offsets_left: Tensor | None, offsets_right: Tensor | None, *numbers: int
    ) -> Tensor:
        ctx.save_for_backward(offsets_left, offsets_right)
        ctx.total_left, ctx.numbers = left.size(0), numbers
        return _concat(left, right, offsets_left, offsets_right, *numbers)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Tensor) -> Any:
        dleft, dright = _split(_lines(dout), ctx.total_left, *ctx.saved_tensors, *ctx.numbers)
        return (dleft, dright, None, None, None, None, None)


class _Split(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, total_left: int, offsets_left: Tensor | None, offsets_right: Tensor | None, *numbers: int
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(offsets_left, offsets_right)
        ctx.numbers = numbers
        return _split(values, total_left, offsets_left, offsets_right, *numbers)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dleft: Tensor, dright: Tensor) -> Any:
        dvalues = _concat(_lines(dleft), _lines(dright), *ctx.saved_tensors, *ctx.numbers)
        return (dvalues, None, None, None, None, None, None)


def _concat(left: Tensor, right: Tensor, offsets_left: Tensor | None, offsets_right: Tensor | None, *numbers: int) -> Tensor:
    max_len_left, max_len_right, prefix = numbers
    return ops.concat_2d_jagged(
        left,
        right,
        offsets_left=offsets_left,
        offsets_right=offsets_right,
        max_len_left=max_len_left,
        max_len_right=max_len_right,
        n_prefix_from_right=prefix,
    )


def _split(
    values: Tensor, total_left: int, offsets_left: Tensor | None, offsets_right: Tensor | None, *numbers: int
) -> tuple[Tensor, Tensor]:
    max_len_left, max_len_right, prefix = numbers
    return ops.split_2d_jagged(
        values,
        total_left,
        offsets_left=offsets_left,
        offsets_right=offsets_right,
        max_len_left=max_len_left,
        max_len_right=max_len_right,
        n_prefix_to_right=prefix,
    )


def concat(
    left: Tensor,
    right: Tensor,
    offsets_left: Tensor | None,
    offsets_right: Tensor | None,
    max_len_left: int = 0,
    max_len_right: int = 0,
    prefix: int = 0,
) -> Tensor:
    """hstujit.torch.concat_2d_jagged of matrices, with gradients."""
    numbers = (max_len_left, max_len_right, prefix)
    if records_gradient(left, right):
        out: Tensor = _Concat.apply(left, right, offsets_left, offsets_right, *numbers)  # type: ignore[no-untyped-call]
        return out
    return _concat(left, right, offsets_left, offsets_right, *numbers)


def split(
    values: Tensor,
    total_left: int,
    offsets_left: Tensor | None,
    offsets_right: Tensor | None,
    max_len_left: int = 0,
    max_len_right: int = 0,
    prefix: int = 0,
) -> tuple[Tensor, Tensor]:
    """hstujit.torch.split_2d_jagged into matrices, with gradients."""
    numbers = (max_len_left, max_len_right, prefix)
    if records_gradient(values):
        out: tuple[Tensor, Tensor] = _Split.apply(values, total_left, offsets_left, offsets_right, *numbers)  # type: ignore[no-untyped-call]
        return out
    return _split(values, total_left, offsets_left, offsets_right, *numbers)
