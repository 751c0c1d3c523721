"""What the shapes of results are made of, in Python; torch_ops/shapes.hpp has the same in C++."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

ROW, GROUP, BLOCK = 1, 2, 3  # hstu_fp8_scaling


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return (a + b - 1) // b


def rows(t: Tensor) -> int:
    """Rows of a matrix, or of a batch of matrices."""
    product = 1
    for extent in t.shape[:-1]:
        product *= extent
    return product


def with_last(t: Tensor, last: int) -> Sequence[int]:
    """The shape of t with another last extent."""
    return [*t.shape[:-1], last]


def with_first(t: Tensor, first: int) -> Sequence[int]:
    """The shape of t with another first extent."""
    return [first, *t.shape[1:]]


def fp8_units(scaling: int, rows: int, columns: int) -> Sequence[int]:
    """The shape of the descales of a matrix quantised with this hstu_fp8_scaling."""
    if scaling == ROW:
        return [rows]
    if scaling == GROUP:
        return [rows, ceil_div(columns, 128)]
    if scaling == BLOCK:
        return [ceil_div(rows, 128), ceil_div(columns, 128)]
    return [1]


def norm_mul_segments(concat_u: bool, concat_x: bool, num_groups: int) -> int:
    """How many segments of dim columns hstu_norm_mul writes."""
    if num_groups == 0:
        return 1 + int(concat_u) + int(concat_x)
    return 3 if concat_u and concat_x else 1


def concat_2d_shape(left: Tensor, right: Tensor, is_replace: bool) -> Sequence[int]:
    """The shape of hstu_concat_2d_jagged's result: a matrix, whatever the parts are."""
    return [rows(left) + (0 if is_replace else rows(right)), left.size(-1)]


def flash_lse(q: Tensor) -> Sequence[int]:
    """The shape of the log-sum-exp: [heads, total] of jagged q, [batch, heads, queries] of dense q."""
    return [q.size(1), q.size(0)] if q.dim() == 3 else list(q.shape[:-1])
