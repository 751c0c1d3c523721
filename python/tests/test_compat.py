"""hstujit.compat: parity with plain PyTorch, and the table of arguments against the functions."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from references import Mask, concat, delta, mha, offsets_of, output, refused, rows_of, uvqk
from samples import rand, rms, rotate
from torch import Tensor

import hstujit
from hstujit.compat import generative_recommenders as meta
from hstujit.compat import hstu, hstu_attn, table, triton_ops, tzrec
from hstujit.enums import Fp8Scaling

ROOT = Path(__file__).resolve().parent.parent.parent
LENGTHS = [7, 5, 9]
OFFSETS, TOTAL, MAX_LEN = offsets_of(LENGTHS), sum(LENGTHS), 9
TARGETS = torch.tensor([2, 0, 3])
Q, K, V = rand(TOTAL, 2, 6), rand(TOTAL, 2, 6, seed=1), rand(TOTAL, 2, 4, seed=2)
ALPHA = 0.4


@dataclass
class Case:
    """A call of a function, a way to call it where that is more, and what comes out."""

    kwargs: dict[str, Any]
    expected: Callable[[], Any]
    call: Callable[..., Any] | None = None
    tolerance: float = 2e-5


# ---- attention

MASKED = {"num_targets": TARGETS, "max_attn_len": 3, "contextual_seq_len": 2}
MASK = Mask(contexts=2, max_attn_len=3)
QKV = {"max_seq_len": MAX_LEN, "alpha": ALPHA, "q": Q, "k": K, "v": V, "seq_offsets": OFFSETS}
NEW = 2
NEW_OFFSETS = offsets_of([NEW] * 3)
DELTA = {"max_seq_len": MAX_LEN, "alpha": ALPHA, "delta_q": Q[: 3 * NEW], "k": K, "v": V, "seq_offsets": OFFSETS}


def attended(divisor: float = MAX_LEN, mask: Mask = MASK, **options: Any) -> Tensor:
    return mha(Q, K, V, OFFSETS, alpha=ALPHA, divisor=divisor, mask=mask, **({"num_targets": TARGETS} | options))


def of_new_rows(divisor: float = MAX_LEN) -> Tensor:
    return delta(Q[: 3 * NEW], K, V, NEW_OFFSETS, OFFSETS, alpha=ALPHA, divisor=divisor, mask=MASK, num_targets=TARGETS)


def sla(k1: int, k2: int, contexts: int) -> list[Tensor]:
    """Semi-local attention, as a matrix for each sequence."""
    out = []
    for n, t in zip(LENGTHS, TARGETS.tolist(), strict=True):
        i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
        history = (j <= i) & ((j < max(k2, contexts)) | (j > i - k1))
        out.append(torch.where(i < n - t, history, j < n - t))
    return out


# ---- stages of a layer

X, DIMS = rand(TOTAL, 12), (2, 6, 4)
UVQK = {
    "x": X,
    "norm_weight": rand(12),
    "norm_bias": rand(12, seed=1),
    "norm_eps": 1e-3,
    "num_heads": 2,
    "attn_dim": 6,
    "hidden_dim": 4,
    "uvqk_weight": rand(12, 40) / 4,
    "uvqk_bias": rand(40),
}
STAGE = {
    "attn": rand(TOTAL, 8),
    "u": rand(TOTAL, 8, seed=1),
    "x": X,
    "norm_weight": rand(8),
    "norm_bias": rand(8, seed=1),
    "norm_eps": 1e-3,
    "output_weight": rand(24, 12) / 4,
    "num_heads": 2,
    "linear_dim": 4,
    "dropout_ratio": 0.3,
    "training": False,
    "recompute_y_in_backward": False,
}
PREPROCESS = UVQK | {
    "max_seq_len": MAX_LEN,
    "seq_offsets": OFFSETS,
    "attn_alpha": ALPHA,
    "causal": True,
    "recompute_uvqk_in_backward": False,
    "recompute_normed_x_in_backward": False,
    "sort_by_length": False,
    **MASKED,
}


def projected() -> tuple[Tensor, ...]:
    return uvqk(X, *(UVQK[n] for n in ("norm_weight", "norm_bias", "uvqk_weight", "uvqk_bias", "norm_eps")), DIMS)


def preprocessed(divisor: float = MAX_LEN) -> tuple[Tensor, ...]:
    u, q, k, v = projected()
    attn = mha(q, k, v, OFFSETS, alpha=ALPHA, divisor=divisor, mask=MASK, num_targets=TARGETS)
    return u, attn.flatten(1), k, v


def staged(**options: Any) -> Tensor:
    names = ("attn", "u", "x", "norm_weight", "norm_bias", "output_weight", "norm_eps")
    return output(*(STAGE[n] for n in names), **options)


# ---- jagged tensors

LEFT_LENGTHS, RIGHT_LENGTHS = [3, 0, 4], [2, 3, 1]
LEFT_OFFSETS, RIGHT_OFFSETS = offsets_of(LEFT_LENGTHS), offsets_of(RIGHT_LENGTHS)
LEFT, RIGHT = rand(7, 5), rand(6, 5)
BOTH = concat([LEFT[r] for r in rows_of(LEFT_OFFSETS)], [RIGHT[r] for r in rows_of(RIGHT_OFFSETS)])
PREFIXED = concat([LEFT[r] for r in rows_of(LEFT_OFFSETS)], [RIGHT[r] for r in rows_of(RIGHT_OFFSETS)], 1)
PAIR = {"values_left": LEFT, "values_right": RIGHT, "offsets_left": LEFT_OFFSETS, "offsets_right": RIGHT_OFFSETS}
SPLIT = {"max_seq_len": 9, "values": BOTH, "offsets_left": LEFT_OFFSETS, "offsets_right": RIGHT_OFFSETS}
BMM = {
    "max_seq_len": MAX_LEN,
    "seq_offsets": OFFSETS,
    "jagged": X,
    "dense": rand(3, 12, 5),
    "bias": rand(3, 5),
}


def multiplied() -> Tensor:
    return torch.cat([X[r] @ BMM["dense"][b] + BMM["bias"][b] for b, r in enumerate(rows_of(OFFSETS))])


# ---- positions

POSITIONS, AGES = rand(8, 12), rand(6, 12, seed=1)
TIMES = torch.arange(TOTAL) * 97 % 1000
POSITION = {
    "alpha": 1.5,
    "max_seq_len": MAX_LEN,
    "position_embeddings_weight": POSITIONS,
    "seq_offsets": OFFSETS,
    "seq_lengths": OFFSETS.diff(),
    "seq_embeddings": X,
    "num_targets": TARGETS,
    "interleave_targets": False,
}
TIMED = POSITION | {"max_contextual_seq_len": 2, "timestamp_embeddings_weight": AGES, "timestamps": TIMES}


def positioned() -> Tensor:
    out = 1.5 * X
    for b, r in enumerate(rows_of(OFFSETS)):
        n = r.stop - r.start
        at = torch.arange(n).clamp(max=min(n - int(TARGETS[b]), len(POSITIONS) - 1))
        out[r] += POSITIONS[at]
    return out


def timed(increments: float = 60.0, query_time: Tensor | None = None) -> Tensor:
    out = 1.5 * X
    for b, r in enumerate(rows_of(OFFSETS)):
        n, i = r.stop - r.start, torch.arange(r.stop - r.start)
        history = n - int(TARGETS[b])
        at = torch.where(i < 2, i, (history - i.clamp(max=history) + 2).clamp(max=len(POSITIONS) - 1))
        now = TIMES[r.stop - 1] if query_time is None else query_time[b]
        age = ((now - TIMES[r]).float().clamp(min=1e-6) / increments).sqrt().int().clamp(0, len(AGES) - 1)
        out[r] += POSITIONS[at] + AGES[age]
    return out


# ---- norms and products

W12, B12, WIDE = rand(12), rand(12, seed=1), rand(3, 7, 12)
NORM = {"x": X, "weight": W12, "bias": B12}


def module_of(cls: Callable[..., Any]) -> Callable[..., Any]:
    """Constructs a norm with the weights of the functions' samples and calls it."""

    def call(**kwargs: Any) -> Tensor:
        module = cls(**kwargs)
        with torch.no_grad():
            for name, value in (("weight", W12), ("bias", B12)):
                if hasattr(module, name):
                    getattr(module, name).copy_(value)
            return module(X)

    return call


def normed(x: Tensor = X) -> Tensor:
    return F.layer_norm(x, (12,), W12, B12, 1e-5)


LAYER = {"embedding_dim": 12, "num_heads": 2, "hidden_dim": 4, "attention_dim": 6, "contextual_seq_len": 2, "max_attn_len": 3}
STATE = {
    "_uvqk_weight": UVQK["uvqk_weight"],
    "_uvqk_beta": UVQK["uvqk_bias"],
    "_input_norm_weight": UVQK["norm_weight"],
    "_input_norm_bias": UVQK["norm_bias"],
    "_output_weight": STAGE["output_weight"],
    "_output_norm_weight": STAGE["norm_weight"],
    "_output_norm_bias": STAGE["norm_bias"],
}
STU_CALL = {"x": X, "x_lengths": None, "x_offsets": OFFSETS, "max_seq_len": MAX_LEN, "num_targets": TARGETS}
STU_DELTA = {"delta_x": rand(3 * NEW, 12, seed=3), "num_targets": None}


def layer_of(config: Any = None, **kwargs: Any) -> Any:
    layer = meta.STULayer(config or meta.STULayerConfig(**LAYER), **kwargs)
    layer.load_state_dict(STATE)
    return layer.eval()


def stack_of(**kwargs: Any) -> Any:
    return meta.STUStack([layer_of()], **kwargs).eval()


def cached(make: Callable[[], Any]) -> Callable[..., Any]:
    """New rows behind all of X."""

    def call(**kwargs: Any) -> Tensor:
        module = make()
        module(**STU_CALL, kv_caching_lengths=OFFSETS.diff())
        return module.cached_forward(**kwargs)

    return call


def layered() -> Tensor:
    u, q, k, v = uvqk(X, *(UVQK[n] for n in ("norm_weight", "norm_bias", "uvqk_weight", "uvqk_bias")), 1e-6, DIMS)
    attn = mha(q, k, v, OFFSETS, alpha=6**-0.5, divisor=MAX_LEN, mask=MASK, num_targets=TARGETS)
    return output(attn.flatten(1), u, X, STAGE["norm_weight"], STAGE["norm_bias"], STAGE["output_weight"], 1e-6)


def continued() -> Tensor:
    weights = (*(UVQK[n] for n in ("norm_weight", "norm_bias", "uvqk_weight", "uvqk_bias")), 1e-6, DIMS)
    fresh = STU_DELTA["delta_x"]
    whole = concat([X[r] for r in rows_of(OFFSETS)], [fresh[r] for r in rows_of(NEW_OFFSETS)])
    offsets = OFFSETS + NEW_OFFSETS
    _, _, k, v = uvqk(whole, *weights)
    u, q, _, _ = uvqk(fresh, *weights)
    attn = delta(q, k, v, NEW_OFFSETS, offsets, alpha=6**-0.5, divisor=MAX_LEN + NEW, mask=MASK)
    return output(attn.flatten(1), u, fresh, STAGE["norm_weight"], STAGE["norm_bias"], STAGE["output_weight"], 1e-6)


# ---- NVIDIA

CU = OFFSETS.int()
PAGE_CACHE = rand(3, 2, 4, 2, 6)
SELF = {
    "q": Q, "k": K, "v": V, "cu_seqlens_q": CU, "cu_seqlens_k": CU, "max_seqlen_q": MAX_LEN, "max_seqlen_k": MAX_LEN,
    "num_targets": TARGETS.int(), "num_contexts": torch.tensor([2, 0, 1], dtype=torch.int32), "target_group_size": 2,
    "window_size": (-1, 0), "alpha": ALPHA, "scaling_seqlen": 30,
}  # fmt: skip
GROUPED = Mask(contexts=SELF["num_contexts"], group=2)
PACKED = torch.stack([Q, K, rand(TOTAL, 2, 6, seed=2)], 1)

# ---- FP8

A, B = rand(5, 32), rand(32, 7, seed=1)
E4M3 = torch.float8_e4m3fn
A_SCALE = 448 / A.abs().max()


def stored(x: Tensor, scale: Tensor) -> Tensor:
    return (x * scale).to(E4M3)


def fp8_product() -> Tensor:
    b_scale = 448 / B.abs().max()
    return (stored(A, A_SCALE).float() / A_SCALE) @ (stored(B, b_scale).float() / b_scale)


COS, SIN, ROWS, W16 = rand(3, 8, seed=5), rand(3, 8, seed=6), rand(2, 3, 16), rand(16)


def with_parameters(module: torch.nn.Module, **values: Tensor) -> Any:
    with torch.no_grad():
        for name, value in values.items():
            getattr(module, name).copy_(value)
    return module


def gated() -> Tensor:
    return F.linear(ROWS, GATE) * F.silu(F.linear(ROWS, UP))


GATE, UP = rand(10, 16), rand(10, 16, seed=1)
LINEAR = rand(7, 32)

CASES: dict[str, Case] = {
    "generative_recommenders.hstu_mha": Case(QKV | MASKED, attended),
    "generative_recommenders.hstu_mha_cuda": Case(QKV | MASKED, attended),
    "generative_recommenders.delta_hstu_mha": Case(DELTA | MASKED, of_new_rows),
    "generative_recommenders.hstu_compute_uqvk": Case(UVQK, projected),
    "generative_recommenders.hstu_compute_output": Case(
        STAGE | {"concat_u": True, "concat_x": True, "mul_u_activation_type": "silu", "group_norm": False},
        lambda: staged(activation="silu"),
    ),
    "generative_recommenders.hstu_preprocess_and_attention": Case(PREPROCESS, preprocessed),
    "generative_recommenders.concat_2D_jagged": Case({"max_seq_len": 9, **PAIR}, lambda: BOTH),
    "generative_recommenders.concat_2D_jagged_multirow": Case(
        {"max_seq_len": 9, **PAIR, "max_len_left": 4, "max_len_right": 3}, lambda: BOTH
    ),
    "generative_recommenders.split_2D_jagged": Case(SPLIT, lambda: (LEFT, RIGHT)),
    "generative_recommenders.split_2D_jagged_multirow": Case(SPLIT, lambda: (LEFT, RIGHT)),
    "generative_recommenders.hstu_split_l2_embeddings": Case(
        {"max_seq_len": 9, "x": PREFIXED, "prefix_offsets": LEFT_OFFSETS, "l2_offsets": RIGHT_OFFSETS, "contextual_seq_len": 1},
        lambda: (LEFT, RIGHT),
    ),
    "generative_recommenders.hstu_concat_l2_embeddings": Case(
        {"max_prefix_len": 4, "prefix_x": LEFT, "prefix_offsets": LEFT_OFFSETS, "max_l2_len": 3, "l2_x": RIGHT,
         "l2_offsets": RIGHT_OFFSETS, "contextual_seq_len": 1},
        lambda: PREFIXED,
    ),
    "generative_recommenders.jagged_dense_bmm_broadcast_add": Case(BMM, multiplied),
    "generative_recommenders.layer_norm": Case(NORM, normed),
    "generative_recommenders.rms_norm": Case({"x": X, "weight": W12, "silu": True}, lambda: F.silu(rms(X, W12))),
    "generative_recommenders.swish_layer_norm": Case(NORM, lambda: X * normed().sigmoid()),
    "generative_recommenders.LayerNorm": Case({"dim": 12}, normed, module_of(meta.LayerNorm)),
    "generative_recommenders.RMSNorm": Case({"dim": 12}, lambda: rms(X, W12), module_of(meta.RMSNorm)),
    "generative_recommenders.RMSNormSilu": Case({"dim": 12}, lambda: F.silu(rms(X, W12)), module_of(meta.RMSNormSilu)),
    "generative_recommenders.SwishLayerNorm": Case(
        {"dim": 12}, lambda: X * normed().sigmoid(), module_of(meta.SwishLayerNorm)
    ),
    "generative_recommenders.add_timestamp_positional_embeddings": Case(TIMED, timed),
    "generative_recommenders.addmm": Case({"input": B12[:5], "mat1": X, "mat2": X[:12, :5]}, lambda: B12[:5] + X @ X[:12, :5]),
    "generative_recommenders.STULayerConfig": Case(
        LAYER, layered, lambda **kw: layer_of(meta.STULayerConfig(**kw))(**STU_CALL)
    ),
    "generative_recommenders.STULayer": Case(
        {"config": meta.STULayerConfig(**LAYER)}, layered, lambda **kw: layer_of(**kw)(**STU_CALL)
    ),
    "generative_recommenders.STULayer.forward": Case(STU_CALL, layered, lambda **kw: layer_of()(**kw)),
    "generative_recommenders.STULayer.cached_forward": Case(STU_DELTA, continued, cached(layer_of)),
    "generative_recommenders.STUStack": Case({}, layered, lambda **kw: stack_of(**kw)(**STU_CALL)),
    "generative_recommenders.STUStack.forward": Case(STU_CALL, layered, lambda **kw: stack_of()(**kw)),
    "generative_recommenders.STUStack.cached_forward": Case(STU_DELTA, continued, cached(stack_of)),
    "hstu.hstu_attn_varlen_func": Case(
        {**SELF, "seqused_q": None, "seqused_k": None}, lambda: attended(30, GROUPED)
    ),
    "hstu_attn.hstu_attn_varlen_func": Case(SELF, lambda: attended(30, GROUPED)),
    "hstu_attn.hstu_attn_qkvpacked_func": Case(
        {"qkv": PACKED, **{n: v for n, v in SELF.items() if n not in "qkv"}},
        lambda: mha(Q, K, PACKED[:, 2], OFFSETS, alpha=ALPHA, divisor=30, mask=GROUPED, num_targets=TARGETS),
    ),
    "tzrec.hstu_mha": Case(QKV | MASKED | {"scaling_seqlen": 30}, lambda: attended(30)),
    "tzrec.delta_hstu_mha": Case(DELTA | MASKED | {"scaling_seqlen": 30}, lambda: of_new_rows(30)),
    "tzrec.hstu_compute_uqvk": Case(UVQK, projected),
    "tzrec.hstu_compute_output": Case(STAGE | {"concat_ux": True, "group_norm": False}, staged),
    "tzrec.hstu_preprocess_and_attention": Case(PREPROCESS | {"scaling_seqlen": 30}, lambda: preprocessed(30)),
    "tzrec.concat_2D_jagged": Case({**PAIR, "max_len_left": 4, "max_len_right": 3}, lambda: BOTH),
    "tzrec.split_2D_jagged": Case(SPLIT, lambda: (LEFT, RIGHT)),
    "tzrec.jagged_dense_bmm_broadcast_add": Case(BMM, multiplied),
    "tzrec.layer_norm": Case(NORM, normed),
    "tzrec.rms_norm": Case({"x": X, "weight": W12}, lambda: rms(X, W12)),
    "tzrec.swish_layer_norm": Case(NORM, lambda: X * normed().sigmoid()),
    "tzrec.add_positional_embeddings": Case(POSITION, positioned),
    "tzrec.add_timestamp_positional_embeddings": Case(
        TIMED | {"time_bucket_increments": 7.0, "query_time": torch.tensor([1200, 1500, 1100])},
        lambda: timed(7.0, torch.tensor([1200, 1500, 1100])),
    ),
    "tzrec.addmm": Case({"input": rand(TOTAL, 5), "mat1": X, "mat2": X[:12, :5]}, lambda: rand(TOTAL, 5) + X @ X[:12, :5]),
    "tzrec.build_sla_func_tensor": Case(
        {"nheads": 2, "sla_k1": 2, "sla_k2": 1, "seq_offsets": OFFSETS, "total_q": TOTAL, "num_targets": TARGETS,
         "contextual_seq_len": 2},
        lambda: attended(sees=sla(2, 1, 2)),
        lambda **kw: tzrec.hstu_mha(**QKV, attn_func=tzrec.build_sla_func_tensor(**kw), **MASKED),
    ),
    "triton_ops.fused_rmsnorm_rope": Case(
        {"x": ROWS, "weight": W16, "cos": COS, "sin": SIN, "eps": 1e-3}, lambda: rotate(rms(ROWS, W16, 1e-3), COS, SIN, 8)
    ),
    "triton_ops.fused_gated_mlp": Case({"x": ROWS, "gate_weight": GATE, "up_weight": UP}, gated),
    "triton_ops.fp8_gemm": Case({"a": A, "b": B, "output_dtype": torch.float32}, fp8_product, tolerance=1e-3),
    "triton_ops.quantize_fp8": Case({"tensor": A}, lambda: (stored(A, A_SCALE), A_SCALE), tolerance=0.07),
    "triton_ops.dequantize_fp8": Case(
        {"tensor": stored(A, A_SCALE), "scale": A_SCALE, "output_dtype": torch.float32},
        lambda: stored(A, A_SCALE).float() / A_SCALE,
    ),
    "triton_ops.FusedRMSNormRoPE": Case(
        {"hidden_dim": 16, "head_dim": 8, "eps": 1e-3},
        lambda: rotate(rms(ROWS, W16, 1e-3), COS, SIN, 8),
        lambda **kw: with_parameters(triton_ops.FusedRMSNormRoPE(**kw), weight=W16)(ROWS, COS, SIN),
    ),
    "triton_ops.FusedRMSNormRoPE.forward": Case(
        {"x": ROWS, "cos": COS, "sin": SIN},
        lambda: rotate(rms(ROWS, W16, 1e-6), COS, SIN, 8),
        lambda **kw: with_parameters(triton_ops.FusedRMSNormRoPE(16, 8), weight=W16)(**kw),
    ),
    "triton_ops.FusedGatedMLP": Case(
        {"hidden_dim": 16, "intermediate_dim": 10},
        gated,
        lambda **kw: with_parameters(triton_ops.FusedGatedMLP(**kw), gate_weight=GATE, up_weight=UP)(ROWS),
    ),
    "triton_ops.FusedGatedMLP.forward": Case(
        {"x": ROWS},
        gated,
        lambda **kw: with_parameters(triton_ops.FusedGatedMLP(16, 10), gate_weight=GATE, up_weight=UP)(**kw),
    ),
    "triton_ops.FP8Linear": Case(
        {"in_features": 32, "out_features": 7},
        lambda: A @ LINEAR.T,
        lambda **kw: with_parameters(triton_ops.FP8Linear(**kw), weight=LINEAR)(A),
        tolerance=0.6,  # of results near 6: both operands keep 3 bits
    ),
    "triton_ops.FP8Linear.forward": Case(
        {"x": A},
        lambda: A @ LINEAR.T,
        lambda **kw: with_parameters(triton_ops.FP8Linear(32, 7), weight=LINEAR)(**kw),
        tolerance=0.6,
    ),
}  # fmt: skip
FUNCTIONS = {f"{source.name}.{f.name}": f for source in table.SOURCES for f in source.functions}


def object_of(name: str) -> Any:
    source, _, path = name.partition(".")
    found = importlib.import_module(f"hstujit.compat.{source}")
    for part in path.split("."):
        found = getattr(found, part)
    return found


def run(name: str, **changed: Any) -> list[Tensor]:
    case = CASES[name]
    with torch.no_grad():
        got = (case.call or object_of(name))(**(case.kwargs | changed))
    return [got] if isinstance(got, Tensor) else list(got)


def value_of(text: str, argument: Any = None) -> Any:
    """A default or a trial of the table."""
    return eval(text, {"torch": torch, "Fp8Scaling": Fp8Scaling, "t": argument if isinstance(argument, Tensor) else TARGETS})


def test_every_function_of_the_table_has_a_case() -> None:
    assert set(CASES) == set(FUNCTIONS)
    for source in table.SOURCES:
        module = importlib.import_module(f"hstujit.compat.{source.name}")
        assert set(module.__all__) - {"STU"} == {f.name.split(".")[0] for f in source.functions}


@pytest.mark.parametrize("name", CASES)
def test_gives_what_plain_pytorch_gives(name: str) -> None:
    case = CASES[name]
    expected = case.expected()
    expected = [expected] if isinstance(expected, Tensor) else list(expected)
    for got, wanted in zip(run(name), expected, strict=True):
        torch.testing.assert_close(got.float(), wanted.float(), atol=case.tolerance, rtol=case.tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_those_of_the_table(name: str) -> None:
    parameters = [p for p in inspect.signature(object_of(name)).parameters.values() if p.name != "self"]
    listed = FUNCTIONS[name].arguments
    assert [p.name for p in parameters] == [a.name for a in listed]
    for parameter, argument in zip(parameters, listed, strict=True):
        default = parameter.default
        assert (default is inspect.Parameter.empty) == (argument.default == ""), argument.name
        if argument.default:
            assert default == value_of(argument.default), argument.name


WALKED = [(name, a) for name, f in FUNCTIONS.items() for a in f.arguments]


@pytest.mark.parametrize(
    ("name", "argument"), [pytest.param(n, a, id=f"{n}-{a.name}") for n, a in WALKED if a.verdict == table.IGNORED]
)
def test_ignored_arguments_change_nothing(name: str, argument: table.Argument) -> None:
    assert argument.note
    case = CASES[name]
    trial = value_of(argument.trial)
    given = case.kwargs.get(argument.name, value_of(argument.default) if argument.default else None)
    assert trial is not given
    for a, b in zip(run(name), run(name, **{argument.name: trial}), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize(
    ("name", "argument"), [pytest.param(n, a, id=f"{n}-{a.name}") for n, a in WALKED if a.verdict == table.RAISES]
)
def test_arguments_that_raise_name_themselves(name: str, argument: table.Argument) -> None:
    assert argument.note
    trial = value_of(argument.trial, CASES[name].kwargs.get(argument.name))
    with pytest.raises(hstujit.Error, match=argument.name) as caught:
        run(name, **{argument.name: trial})
    assert caught.value.field == argument.name


def test_the_documentation_is_that_of_the_table() -> None:
    spec = importlib.util.spec_from_file_location("generate_switching", ROOT / "python/generate_switching.py")
    assert spec
    assert spec.loader
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    folder = ROOT / "docs/switching"
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == generator.pages()


# ---- options beyond the cases


@pytest.mark.parametrize("scale", [torch.tensor(0.3), rand(TOTAL, seed=4)])
def test_an_attention_scale_takes_the_divisor_s_place(scale: Tensor) -> None:
    got = meta.hstu_mha(**QKV, **MASKED, attn_scale=scale)
    torch.testing.assert_close(got, attended(scale=scale.reshape(-1)), atol=2e-5, rtol=2e-5)


def test_rows_exempt_from_the_window() -> None:
    got = meta.hstu_mha(**QKV, **MASKED, min_full_attn_seq_len=2)
    torch.testing.assert_close(got, attended(mask=Mask(2, 3, min_full=2)), atol=2e-5, rtol=2e-5)
    assert torch.equal(meta.hstu_mha(**QKV, min_full_attn_seq_len=2), meta.hstu_mha(**QKV))


@pytest.mark.parametrize(("concat_u", "concat_x"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("activation", ["none", "silu", "sigmoid"])
def test_output_stages_of_any_segments(concat_u: bool, concat_x: bool, activation: str) -> None:
    rows = 8 * (1 + concat_u + concat_x)
    given = STAGE | {"output_weight": STAGE["output_weight"][:rows]}
    names = ("attn", "u", "x", "norm_weight", "norm_bias", "output_weight", "norm_eps")
    expected = output(*(given[n] for n in names), activation=activation, concat_u=concat_u, concat_x=concat_x)
    more = {"concat_u": concat_u, "concat_x": concat_x, "mul_u_activation_type": activation, "group_norm": False}
    torch.testing.assert_close(meta.hstu_compute_output(**given, **more), expected, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("concat_ux", [False, True])
def test_output_stages_with_group_norm(concat_ux: bool) -> None:
    given = STAGE | {"output_weight": STAGE["output_weight"][: 24 if concat_ux else 8]}
    given |= {"norm_weight": STAGE["norm_weight"][:2], "norm_bias": STAGE["norm_bias"][:2]}
    names = ("attn", "u", "x", "norm_weight", "norm_bias", "output_weight", "norm_eps")
    expected = output(*(given[n] for n in names), groups=2, concat_u=concat_ux, concat_x=concat_ux)
    got = tzrec.hstu_compute_output(**given, concat_ux=concat_ux, group_norm=True)
    torch.testing.assert_close(got, expected, atol=2e-5, rtol=2e-5)


OUTPUTS = [
    (activation, groups, concat_u, concat_x)
    for activation, groups in (("none", 0), ("silu", 0), ("sigmoid", 0), ("none", 2), ("silu", 2))
    for concat_u, concat_x in ((False, False), (True, False), (True, True))
]


@pytest.mark.parametrize(("activation", "groups", "concat_u", "concat_x"), OUTPUTS)
def test_with_gradients_an_output_stage_is_the_same(activation: str, groups: int, concat_u: bool, concat_x: bool) -> None:
    segments = (3 if concat_u and concat_x else 1) if groups else 1 + concat_u + concat_x
    given = STAGE | {"output_weight": STAGE["output_weight"][: 8 * segments]}
    if groups:
        given |= {"norm_weight": STAGE["norm_weight"][:2], "norm_bias": STAGE["norm_bias"][:2]}
    given |= {"concat_u": concat_u, "concat_x": concat_x, "mul_u_activation_type": activation, "group_norm": bool(groups)}
    leaves = ["attn", "u", "x", "norm_weight", "norm_bias", "output_weight"]
    with torch.no_grad():
        without = meta.hstu_compute_output(**given)
    given |= {name: given[name].detach().clone().requires_grad_() for name in leaves}
    recorded = meta.hstu_compute_output(**given)
    torch.testing.assert_close(recorded.detach(), without, atol=2e-5, rtol=2e-5)
    names = ("attn", "u", "x", "norm_weight", "norm_bias", "output_weight", "norm_eps")
    plain = output(
        *(given[n] for n in names),
        groups=groups,
        activation="none" if groups else activation,
        concat_u=concat_u,
        concat_x=concat_x,
    )
    dout = rand(TOTAL, 12, seed=9)
    got = torch.autograd.grad(recorded, [given[n] for n in leaves], dout)
    expected = torch.autograd.grad(plain, [given[n] for n in leaves], dout)
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g, e, atol=5e-5, rtol=5e-5)


def test_with_gradients_attention_and_projection_are_the_same() -> None:
    leaves = ["x", "norm_weight", "norm_bias", "uvqk_weight", "uvqk_bias"]
    given = PREPROCESS | {name: UVQK[name].detach().clone().requires_grad_() for name in leaves}
    u, attn, k, v = meta.hstu_preprocess_and_attention(**given)
    assert k is not None
    assert v is not None
    for got, expected in zip((u, attn, k, v), preprocessed(), strict=True):
        torch.testing.assert_close(got.detach(), expected, atol=2e-5, rtol=2e-5)
    plain_u, q, pk, pv = uvqk(
        *(given[n] for n in ("x", "norm_weight", "norm_bias", "uvqk_weight", "uvqk_bias", "norm_eps")), DIMS
    )
    plain = mha(q, pk, pv, OFFSETS, alpha=ALPHA, divisor=MAX_LEN, mask=MASK, num_targets=TARGETS).flatten(1)
    got = torch.autograd.grad((u * attn).sum() + (k.sum() + v.pow(2).sum()), [given[n] for n in leaves])
    expected = torch.autograd.grad((plain_u * plain).sum() + (pk.sum() + pv.pow(2).sum()), [given[n] for n in leaves])
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g, e, atol=1e-4, rtol=1e-4)


def test_dense_parts_join_and_part() -> None:
    dense = rand(6, 5, seed=7)
    joined = meta.concat_2D_jagged(9, LEFT, dense, max_len_right=2, offsets_left=LEFT_OFFSETS)
    expected = concat([LEFT[r] for r in rows_of(LEFT_OFFSETS)], list(dense.view(3, 2, 5)))
    assert torch.equal(joined, expected)
    for left in ({}, {"total_len_left": 7}, {"total_len_right": 6}):
        parts = meta.split_2D_jagged(9, joined, max_len_right=2, offsets_left=LEFT_OFFSETS, **left)
        assert torch.equal(parts[0], LEFT)
        assert torch.equal(parts[1], dense)
    both = meta.concat_2D_jagged(4, dense, dense, max_len_left=2, max_len_right=2)
    assert torch.equal(both, concat(list(dense.view(3, 2, 5)), list(dense.view(3, 2, 5))))
    front = meta.concat_2D_jagged(9, dense, LEFT, max_len_left=2, offsets_right=LEFT_OFFSETS)
    assert torch.equal(meta.split_2D_jagged(9, front, max_len_left=2, offsets_right=LEFT_OFFSETS)[0], dense)
    with pytest.raises(hstujit.Error, match="offsets_left: absent"):
        meta.split_2D_jagged(9, joined, offsets_right=LEFT_OFFSETS)


JOINS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], int]] = {
    "jagged": (lambda a, b: meta.concat_2D_jagged(9, a, b, offsets_left=LEFT_OFFSETS, offsets_right=RIGHT_OFFSETS), 0),
    "dense right": (lambda a, b: meta.concat_2D_jagged(9, a, b, max_len_right=2, offsets_left=LEFT_OFFSETS), 0),
    "prefix": (lambda a, b: meta.hstu_concat_l2_embeddings(4, a, LEFT_OFFSETS, 3, b, RIGHT_OFFSETS, 1), 1),
}
PARTS: dict[str, Callable[[Tensor], tuple[Tensor, Tensor]]] = {
    "jagged": lambda t: meta.split_2D_jagged(9, t, offsets_left=LEFT_OFFSETS, offsets_right=RIGHT_OFFSETS),
    "dense right": lambda t: meta.split_2D_jagged(9, t, max_len_right=2, offsets_left=LEFT_OFFSETS),
    "prefix": lambda t: meta.hstu_split_l2_embeddings(9, t, LEFT_OFFSETS, RIGHT_OFFSETS, 1),
}


@pytest.mark.parametrize("how", JOINS)
def test_joining_and_parting_have_gradients(how: str) -> None:
    join, prefix = JOINS[how]
    right_offsets = offsets_of([2] * 3) if how == "dense right" else RIGHT_OFFSETS

    def plain(a: Tensor, b: Tensor) -> Tensor:
        return concat([a[r] for r in rows_of(LEFT_OFFSETS)], [b[r] for r in rows_of(right_offsets)], prefix)

    left, right = LEFT.clone().requires_grad_(), RIGHT.clone().requires_grad_()
    dout = rand(13, 5, seed=6)
    expected = torch.autograd.grad(plain(left, right), (left, right), dout)
    for got, wanted in zip(torch.autograd.grad(join(left, right), (left, right), dout), expected, strict=True):
        assert torch.equal(got, wanted)
    assert torch.equal(torch.autograd.grad(join(left, RIGHT), left, dout)[0], expected[0])
    assert torch.equal(torch.autograd.grad(join(left, right).sum(), left)[0], torch.ones_like(LEFT))
    # And the other way: parts of what was joined, whose gradients join again. One part alone has a gradient of zeros beside it.
    whole = plain(LEFT, RIGHT).requires_grad_()
    a, b = PARTS[how](whole)
    assert torch.equal(a, LEFT)
    assert torch.equal(b, RIGHT)
    weights = (rand(7, 5, seed=7), rand(6, 5, seed=8))
    (both,) = torch.autograd.grad((a * weights[0]).sum() + (b * weights[1]).sum(), whole, retain_graph=True)
    assert torch.equal(both, plain(*weights))
    (one,) = torch.autograd.grad((a * weights[0]).sum(), whole)
    assert torch.equal(one, plain(weights[0], torch.zeros(6, 5)))


def test_norms_take_any_leading_dimensions() -> None:
    torch.testing.assert_close(meta.layer_norm(WIDE, W12, B12), normed(WIDE), atol=2e-5, rtol=2e-5)
    x = WIDE.clone().requires_grad_()
    (dx,) = torch.autograd.grad(meta.layer_norm(x, W12, B12).pow(2).sum(), x)
    (expected,) = torch.autograd.grad(F.layer_norm(x, (12,), W12, B12).pow(2).sum(), x)
    torch.testing.assert_close(dx, expected, atol=1e-4, rtol=1e-4)


def test_swish_layer_norm_has_gradients() -> None:
    leaves = [t.clone().requires_grad_() for t in (WIDE, W12, B12)]
    x, w, b = leaves
    got, plain = meta.swish_layer_norm(x, w, b), x * F.layer_norm(x, (12,), w, b).sigmoid()
    torch.testing.assert_close(got, plain, atol=2e-5, rtol=2e-5)
    dout = rand(*WIDE.shape, seed=4)
    for g, e in zip(torch.autograd.grad(got, leaves, dout), torch.autograd.grad(plain, leaves, dout), strict=True):
        torch.testing.assert_close(g, e, atol=5e-5, rtol=5e-5)
    with refused("rms_norm"):
        meta.RMSNorm(12)(X)


@pytest.mark.parametrize("rows", [None, 1, TOTAL])
def test_addmm_takes_what_torch_takes_and_has_its_gradients(rows: int | None) -> None:
    added = (rand(5) if rows is None else rand(rows, 5)).requires_grad_()
    x, w = X.clone().requires_grad_(), rand(12, 5).requires_grad_()
    got, expected = meta.addmm(added, x, w), torch.addmm(added, x, w)
    torch.testing.assert_close(got, expected, atol=2e-5, rtol=2e-5)
    with torch.no_grad():
        torch.testing.assert_close(meta.addmm(added, x, w), expected, atol=2e-5, rtol=2e-5)
    for g, e in zip(
        torch.autograd.grad(got.sum(), (added, x, w)), torch.autograd.grad(expected.sum(), (added, x, w)), strict=True
    ):
        torch.testing.assert_close(g, e, atol=1e-4, rtol=1e-4)


WINDOWS = {
    (-1, -1): Mask(full=True),
    (-1, 0): Mask(),
    (2, 1): Mask(left=2, right=1),
    (3, 0): Mask(left=3, right=0),
    (-1, 2): Mask(left=-1, right=2),
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("which", ["self", "new rows"])
def test_windows_of_nvidia(window: tuple[int, int], which: str) -> None:
    common: dict[str, Any] = {"window_size": window, "alpha": ALPHA}
    if which == "self":
        got = hstu_attn.hstu_attn_varlen_func(Q, K, V, CU, CU, MAX_LEN, MAX_LEN, **common)
        expected = attended(mask=WINDOWS[window], num_targets=None)
    else:
        q, cu = Q[: 3 * NEW], NEW_OFFSETS.int()
        got = hstu.hstu_attn_varlen_func(q, K, V, cu, CU, None, None, NEW, MAX_LEN, **common)
        expected = delta(q, K, V, NEW_OFFSETS, OFFSETS, alpha=ALPHA, divisor=NEW, mask=WINDOWS[window])
    torch.testing.assert_close(got, expected, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("heads", [None, 1, 2])
def test_a_bias_has_a_gradient_where_it_is_asked_for(heads: int | None) -> None:
    rab = (rand(3, MAX_LEN, MAX_LEN) if heads is None else rand(3, heads, MAX_LEN, MAX_LEN)).requires_grad_()
    q = Q.clone().requires_grad_()
    given: dict[str, Any] = {"window_size": (-1, 0), "alpha": ALPHA, "rab": rab}
    plain = attended(mask=Mask(), num_targets=None, rab=rab if heads else rab[:, None])
    # Offsets that are equal, in two tensors, as the source's users have them.
    got = hstu_attn.hstu_attn_varlen_func(q, K, V, CU, CU.clone(), MAX_LEN, MAX_LEN, **given, has_drab=True)
    torch.testing.assert_close(got, plain, atol=2e-5, rtol=2e-5)
    torch.testing.assert_close(
        torch.autograd.grad(got.pow(2).sum(), rab)[0], torch.autograd.grad(plain.pow(2).sum(), rab)[0], atol=1e-4, rtol=1e-4
    )
    without = hstu_attn.hstu_attn_varlen_func(q, K, V, CU, CU, MAX_LEN, MAX_LEN, **given)
    assert torch.autograd.grad(without.sum(), rab, allow_unused=True)[0] is None


def test_intervals_of_nvidia_have_room_behind_the_last_row() -> None:
    func = tzrec.build_sla_func_tensor(2, 2, 1, OFFSETS, TOTAL, TARGETS, 2)
    padded = F.pad(func.contiguous(), (0, 256), value=99)
    got = hstu.hstu_attn_varlen_func(Q, K, V, CU, CU, None, None, MAX_LEN, MAX_LEN, alpha=ALPHA, func=padded)
    torch.testing.assert_close(got, attended(sees=sla(2, 1, 2)), atol=2e-5, rtol=2e-5)
    with pytest.raises(NotImplementedError, match="num_targets: func says all"):
        hstu.hstu_attn_varlen_func(Q, K, V, CU, CU, None, None, 9, 9, func=padded, num_targets=TARGETS, window_size=(-1, 0))


@pytest.mark.parametrize("mode", [0, 5])
def test_attention_in_fp8(mode: int) -> None:
    """Against plain attention of the same e4m3 values; q, k and v are columns of one buffer."""
    rows = (rand(TOTAL, 48, seed=8) * (1 if mode == 5 else 20)).bfloat16()
    given = [rows[:, at : at + 16].view(TOTAL, 2, 8) for at in (0, 16, 32)]
    common: dict[str, Any] = {"window_size": (-1, 0), "alpha": 0.01, "num_targets": TARGETS}
    got = hstu.hstu_attn_varlen_func(*given, CU, CU, None, None, MAX_LEN, MAX_LEN, **common, quant_mode=mode)
    assert got.dtype == torch.bfloat16
    exact = []
    for t in given:
        descale = t.float().abs().max() / 448 if mode == 5 else torch.tensor(1.0)
        exact.append((t.float() / descale).to(E4M3).float() * descale)
    expected = mha(*exact, OFFSETS, alpha=0.01, divisor=MAX_LEN, num_targets=TARGETS)
    assert (got.float() - expected).norm() / expected.norm() < 5e-3
    with pytest.raises(NotImplementedError, match="quant_mode = 5: with rab"):
        hstu.hstu_attn_varlen_func(*given, CU, CU, None, None, 9, 9, rab=rand(3, 2, 9, 9).bfloat16(), quant_mode=5)
    with pytest.raises(NotImplementedError, match="quant_mode = 5: in FP8 there is attention of whole sequences only"):
        hstu.hstu_attn_varlen_func(given[0][:6], *given[1:], NEW_OFFSETS, CU, None, None, NEW, MAX_LEN, quant_mode=5)
    q = given[0].clone().requires_grad_()
    with pytest.raises(NotImplementedError, match="it records no gradient"):
        hstu.hstu_attn_varlen_func(q, *given[1:], CU, CU, None, None, MAX_LEN, MAX_LEN, quant_mode=5)


@pytest.mark.parametrize("how", ["num_targets", "cu_seqlens_t"])
def test_pages_of_nvidia(how: str) -> None:
    """Two sequences of 6 and 3 cached rows and one target each; of the new rows one is history."""
    offsets, lens = torch.tensor([0, 2, 3], dtype=torch.int32), torch.tensor([2, 3], dtype=torch.int32)
    ids, cu_q, targets = torch.tensor([2, 0, 1], dtype=torch.int32), offsets_of([2, 2]).int(), torch.tensor([1, 1])
    q, k, v = (rand(4, 2, 6, seed=s) for s in range(3))
    said = {"num_targets": targets} if how == "num_targets" else {"cu_seqlens_t": offsets_of([1, 1])}
    got = hstu_attn.hstu_attn_varlen_func(
        q, k, v, cu_q, offsets_of([7, 4]).int(), 2, 7, window_size=(-1, 0), alpha=ALPHA, kv_cache=PAGE_CACHE,
        page_offsets=offsets, page_ids=ids, last_page_lens=lens, scaling_seqlen=50, **said,
    )  # fmt: skip
    wholes = []
    for at, rows in ((0, k), (1, v)):
        wholes.append(torch.cat([PAGE_CACHE[2, at], PAGE_CACHE[0, at, :2], rows[1:2], PAGE_CACHE[1, at, :3], rows[3:4]]))
    expected = delta(q, *wholes, offsets_of([2, 2]), offsets_of([7, 4]), alpha=ALPHA, divisor=50, num_targets=targets)
    torch.testing.assert_close(got, expected, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"has_drab": True}, "has_drab: it needs rab"),
        ({"num_contexts": TARGETS}, r"num_contexts: it needs window_size = \(-1, 0\)"),
        ({"num_targets": TARGETS}, r"num_targets: it needs window_size = \(-1, 0\)"),
        ({"target_group_size": 0}, "target_group_size: 0 is not positive"),
        ({"max_seqlen_q": 10}, "max_seqlen_q: 10 is more than"),
        ({"kv_cache": PAGE_CACHE}, "last_page_lens: a kv_cache needs it"),
        ({"func": torch.zeros(3, TOTAL)}, "func: .* is expected"),
    ],
)
def test_nvidia_s_undefined_calls_are_refused(given: dict[str, Any], complaint: str) -> None:
    call: dict[str, Any] = {"max_seqlen_q": MAX_LEN, "max_seqlen_k": MAX_LEN} | given
    with pytest.raises(ValueError, match=complaint):
        hstu_attn.hstu_attn_varlen_func(Q, K, V, CU, CU, **call)


def test_fp8_with_scales_of_the_caller() -> None:
    scale = torch.tensor(20.0)
    q, same = triton_ops.quantize_fp8(A[:, None], scale)
    assert same is scale
    assert torch.equal(q.float(), stored(A[:, None], scale).float())
    b, b_scale = triton_ops.quantize_fp8(B)
    got = triton_ops.fp8_gemm(q[:, 0], b, scale, b_scale, torch.float32)
    exact = (q[:, 0].float() / scale) @ (b.float() / b_scale)
    torch.testing.assert_close(got, exact, atol=1e-3, rtol=1e-3)
    with pytest.raises(ValueError, match="a_scale: absent"):
        triton_ops.fp8_gemm(q[:, 0], b, None, b_scale)


def test_what_has_no_gradient_says_so() -> None:
    x = X.clone().requires_grad_()
    with refused("jagged_dense_bmm_broadcast_add"):
        meta.jagged_dense_bmm_broadcast_add(**(BMM | {"jagged": x}))
    with refused("delta_attention"):
        meta.delta_hstu_mha(**(DELTA | {"k": K.clone().requires_grad_()}))
    with refused("add_timestamp_positional_embeddings"):
        meta.add_timestamp_positional_embeddings(**(TIMED | {"seq_embeddings": x}))


def test_autocast_does_not_change_the_type_of_functions() -> None:
    given = STAGE | {"concat_u": True, "concat_x": True, "mul_u_activation_type": "none", "group_norm": False}
    given["attn"] = STAGE["attn"].clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        recorded = meta.hstu_compute_output(**given)
        projected_ = meta.hstu_compute_uqvk(**(UVQK | {"x": X.clone().requires_grad_()}))
    torch.testing.assert_close(recorded.detach(), staged(), atol=2e-5, rtol=2e-5)
    for got, expected in zip(projected_, projected(), strict=True):
        torch.testing.assert_close(got.detach(), expected, atol=2e-5, rtol=2e-5)


def test_functions_compile_without_graph_breaks() -> None:
    torch._dynamo.reset()

    def run(q: Tensor, cu_q: Tensor, cu_k: Tensor, values: Tensor) -> tuple[Tensor, ...]:
        left, right = meta.split_2D_jagged(9, values, 7, 6, offsets_left=LEFT_OFFSETS, offsets_right=RIGHT_OFFSETS)
        out = meta.hstu_compute_output(**STAGE, concat_u=True, concat_x=True, mul_u_activation_type="silu", group_norm=False)
        fresh = hstu.hstu_attn_varlen_func(q, K, V, cu_q, cu_k, None, None, NEW, MAX_LEN, window_size=(-1, 0), alpha=ALPHA)
        return left, right, out, fresh, meta.hstu_mha(**QKV, **MASKED)

    compiled = torch.compile(run, fullgraph=True, dynamic=True, backend="eager")
    given = (Q[: 3 * NEW], NEW_OFFSETS.int(), CU, BOTH)
    with torch.no_grad():
        for got, expected in zip(compiled(*given), run(*given), strict=True):
            assert torch.equal(got, expected)
