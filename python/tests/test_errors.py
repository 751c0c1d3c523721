"""What is wrong is named, and is the exception that one expects."""

from __future__ import annotations

import pytest
import torch

import hstujit
import hstujit.torch as ht

X, W, B = torch.ones(3, 8), torch.ones(8), torch.zeros(8)


def test_a_shape_that_does_not_fit_is_a_value_error_with_its_field() -> None:
    with pytest.raises(ValueError, match=r"weight\.shape\[0\] = 5: it must be x\.shape\[1\] = 8") as caught:
        ht.layer_norm(X, W[:5], B)
    assert isinstance(caught.value, hstujit.Error)
    assert caught.value.status is hstujit.Status.SHAPE_MISMATCH
    assert caught.value.field == "weight"


def test_an_element_type_that_no_kernel_takes_is_a_type_error() -> None:
    with pytest.raises(TypeError) as caught:
        ht.layer_norm(X.int())
    assert isinstance(caught.value, hstujit.UnsupportedType)
    assert caught.value.field == "x"


def test_an_element_type_that_the_library_lacks_is_named() -> None:
    with pytest.raises(TypeError, match=r"x has the dtype complex64"):
        ht.layer_norm(X.to(torch.complex64))


def test_what_no_kernel_covers_is_not_implemented() -> None:
    with pytest.raises(NotImplementedError) as caught:
        ht.delta_attention(*[torch.ones(2, 1, 4)] * 3, torch.tensor([0, 2]), 2, num_softmax_heads=1)
    assert isinstance(caught.value, hstujit.Unsupported)
    assert caught.value.field == "num_softmax_heads"


def test_operators_themselves_say_the_same() -> None:
    with pytest.raises(RuntimeError, match=r"hstujit\.layer_norm: bias is absent.*HSTU_ERROR_INVALID_ARGUMENT"):
        torch.ops.hstujit.layer_norm(X, W)


def test_a_number_that_does_not_fit_into_its_member_is_refused() -> None:
    with pytest.raises(ValueError, match=r"num_groups = 8589934592: it must fit into 32 bits"):
        ht.group_norm(X, num_groups=2**33)


def test_a_scalar_tensor_is_refused() -> None:
    with pytest.raises(RuntimeError, match="x has 0 dimensions"):
        torch.ops.hstujit.layer_norm(torch.tensor(1.0))


def test_lists_of_other_lengths_are_refused() -> None:
    one, two = [torch.ones(8)], [torch.ones(8)] * 2
    with pytest.raises(ValueError, match="norm_bias has 2 tensors, and norm_weight has 1"):
        ht.stack(X, one, two, one, [], one, one, one, torch.tensor([0, 3]), 3, num_heads=1, attn_dim=1, hidden_dim=1)


def test_a_result_whose_source_is_absent_is_refused() -> None:
    q = torch.ones(2, 1, 4)
    with pytest.raises(ValueError, match="rab is absent, and a result has its shape or type from it"):
        ht.attention_backward(q, q, q, q, torch.tensor([0, 2]), 2, needed=[False, False, False, True, False])


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="out would have the extent -1"):
        ht.dense_to_jagged(torch.ones(1, 2, 3), torch.tensor([0, 2]), -1)


def uses(t: torch.Tensor) -> int:
    count: int = t._use_count()  # type: ignore[attr-defined]
    return count


def test_tensors_are_given_back_after_an_error() -> None:
    before = uses(X)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="bias is absent"):
            torch.ops.hstujit.layer_norm(X, W)
    assert uses(X) == before


def test_tensors_are_given_back_after_a_call() -> None:
    before = uses(X), uses(W), uses(B)
    out = torch.ops.hstujit.layer_norm(X, W, B)
    assert (uses(X), uses(W), uses(B)) == before
    assert uses(out) == uses(torch.ones(1))


def test_an_operator_without_a_gradient_refuses_tensors_that_need_one() -> None:
    x = X.clone().requires_grad_()
    with pytest.raises(NotImplementedError, match="rms_norm: it records no gradient"):
        ht.rms_norm(x)
    with torch.no_grad():
        assert ht.rms_norm(x).shape == x.shape


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_tensor_on_another_device_is_named() -> None:
    with pytest.raises(ValueError, match=r"weight is on cpu, but x is on cuda:0") as caught:
        ht.layer_norm(X.cuda(), W, B.cuda())
    assert isinstance(caught.value, hstujit.Error)
    assert caught.value.field == "weight"
