"""What becomes of every argument of every function in `hstujit.compat`, in the order of its source.

docs/switching is written from here (python/generate_switching.py), and the tests walk it: a signature that has other
arguments, an argument said to be ignored that changes a result, and one said to raise that does not, all fail.

same     it means what it means in the source; the note says where results may differ
ignored  it cannot change the result; the note says why
raises   the default, and what the note leaves out, mean what they mean in the source; all else raises hstujit.Error

`trial` of an ignored argument is a value that changes nothing, of one that raises a value that does: a Python expression in
which `t` is a tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SOURCES", "Argument", "Function", "Source"]

SAME, IGNORED, RAISES = "same", "ignored", "raises"


@dataclass(frozen=True)
class Argument:
    """One argument; `default` is Python, "" where there is none."""

    name: str
    verdict: str
    default: str = ""
    note: str = ""
    trial: str = ""


@dataclass(frozen=True)
class Function:
    """A function, a class, or a class's method, by its name in `hstujit.compat.<source>`; `module` has it in the source."""

    name: str
    module: str
    arguments: tuple[Argument, ...]
    note: str = ""


@dataclass(frozen=True)
class Source:
    """A library: the name of its module here and what it is called there.

    empty  modules that its users import for their effect alone, which a stand-in has too
    """

    name: str
    repository: str
    about: str
    functions: tuple[Function, ...]
    notes: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()


def same(name: str, default: str = "", note: str = "") -> Argument:
    """An argument that means what it means in the source."""
    return Argument(name, SAME, default, note)


def ignored(name: str, note: str, trial: str, default: str = "") -> Argument:
    """An argument that cannot change the result."""
    return Argument(name, IGNORED, default, note, trial)


def raises(name: str, note: str, trial: str, default: str = "") -> Argument:
    """An argument that has values which are refused."""
    return Argument(name, RAISES, default, note, trial)


def all_same(*names: str) -> tuple[Argument, ...]:
    """Arguments without defaults and notes."""
    return tuple(same(name) for name in names)


_KERNEL = ignored("kernel", "the library chooses the kernel, and tunes it", "'TRITON'", "None")
_TMA = ignored("enable_tma", "part of a kernel's configuration, which the tuner finds", "True", "False")
_SORT = ignored("sort_by_length", "rows run from the longest to the shortest by themselves", "True", "False")
_CAUSAL = raises("causal", "`False`: only causal attention has contexts and targets; the source refuses it too", "False")
_MAX_LEN = same(
    "max_seq_len", note="also the divisor; longer sequences are computed, where the source's kernels leave them out"
)
_BOUND = ignored("max_seq_len", "all rows are covered, whatever it is", "1000")
_TARGETS = same("num_targets", "None")
_RECOMPUTE = "what a gradient needs is kept: the result is the same, the memory is not"
_ALPHA = same("alpha")
_LENGTHS = ignored("seq_lengths", "`seq_offsets` has the lengths", "t")
_DROPOUT = same("dropout_ratio", note="drawn by PyTorch's generator of the device: other elements than the source's")


def _default(argument: Argument, default: str, trial: str = "") -> Argument:
    return Argument(argument.name, argument.verdict, default, argument.note, trial or argument.trial)


def _without_default(argument: Argument) -> Argument:
    return _default(argument, "")


_MASK = (same("max_attn_len", "0"), same("contextual_seq_len", "0"))
_WEIGHT_DOTS = all_same("x", "norm_weight", "norm_bias", "norm_eps", "num_heads", "attn_dim", "hidden_dim")
_OUTPUT_STAGE = all_same("attn", "u", "x", "norm_weight", "norm_bias", "norm_eps", "output_weight", "num_heads", "linear_dim")


def _preprocess(*more: Argument, tma: Argument) -> tuple[Argument, ...]:
    return (
        *_WEIGHT_DOTS,
        *all_same("uvqk_weight", "uvqk_bias"),
        _MAX_LEN,
        *all_same("seq_offsets", "attn_alpha"),
        _CAUSAL,
        *all_same("num_targets", "max_attn_len", "contextual_seq_len"),
        ignored("recompute_uvqk_in_backward", _RECOMPUTE, "True"),
        ignored("recompute_normed_x_in_backward", _RECOMPUTE, "True"),
        _without_default(_SORT),
        ignored("prefill", "`k` and `v` are always given back", "True", "False"),
        _KERNEL,
        tma,
        *more,
    )


_SPLIT = (
    _BOUND,
    same("values"),
    same("total_len_left", "None", "without totals, `offsets_left`'s last is read on the host, as in the source"),
    same("total_len_right", "None"),
    same("max_len_left", "None", "rows of a dense part; not read where there are offsets"),
    same("max_len_right", "None", "likewise"),
    same("offsets_left", "None"),
    same("offsets_right", "None"),
    _KERNEL,
)
_BMM = (_BOUND, *all_same("seq_offsets", "jagged", "dense", "bias"), _KERNEL)
_LAYER_NORM = (*all_same("x", "weight", "bias"), same("eps", "1e-5"), _KERNEL)
_ADDMM = (same("input", note="a row or a matrix"), *all_same("mat1", "mat2"), _KERNEL)
_TIMES_HEAD = (
    _ALPHA,
    _BOUND,
    *all_same("max_contextual_seq_len", "position_embeddings_weight", "timestamp_embeddings_weight", "seq_offsets"),
    _LENGTHS,
    *all_same("seq_embeddings", "timestamps", "num_targets", "interleave_targets"),
    raises("time_bucket_fn", "other names than `sqrt` and `log`", "'linear'", "'sqrt'"),
)
_TIMES_NOTE = (
    "The sum is formed in float32 and rounded once, where the source rounds twice. Buckets end with the rows of their table, "
    "as in the source's Triton kernel."
)
_MODULE_DIM = (
    same("dim"),
    same("eps", "1e-5"),
    ignored("is_inference", "grad mode says whether gradients are recorded", "True", "False"),
)
_STU_CALL = (
    same("x"),
    ignored("x_lengths", "`x_offsets` has the lengths", "t"),
    *all_same("x_offsets", "max_seq_len", "num_targets"),
    same("max_kv_caching_len", "0"),
    same("kv_caching_lengths", "None"),
)
_STU_CACHED = (*all_same("delta_x", "num_targets"), same("max_kv_caching_len", "0"), same("kv_caching_lengths", "None"))
_INFERENCE = ignored("is_inference", "grad mode says whether gradients are recorded", "True", "False")

_PADDING = (
    "Rows behind the last sequence hold whatever was in that memory, in results and in gradients. Batches of one static size "
    "that are trained on need `hstujit.torch.attention(..., padded=True)`, or `STULayerConfig(padded=True)`."
)
_AUTOCAST = (
    "Functions compute in the type of their tensors, under autocast too, as the source's Triton kernels do. `STULayer` casts "
    "its activations to autocast's type."
)
_ATTENTION = "generative_recommenders.ops.hstu_attention"
_COMPUTE = "generative_recommenders.ops.hstu_compute"
_JAGGED = "generative_recommenders.ops.jagged_tensors"
_NORM = "generative_recommenders.ops.layer_norm"
_STU = "generative_recommenders.modules.stu"

META = Source(
    "generative_recommenders",
    "https://github.com/meta-recsys/generative-recommenders",
    "Functions of `ops`, modules of `modules/stu.py` and `ops/layer_norm.py`.",
    (
        Function(
            "hstu_mha",
            _ATTENTION,
            (
                _MAX_LEN,
                *all_same("alpha", "q", "k", "v", "seq_offsets"),
                _default(_CAUSAL, "True"),
                raises("dropout_pr", "above 0 with `training`: attention has no dropout", "0.1", "0.0"),
                same("training", "True", "read for `dropout_pr` alone; grad mode says whether gradients are recorded"),
                _TARGETS,
                same("attn_scale", "None", "a number or a value a row, in float32; it may have a gradient"),
                *_MASK,
                same("min_full_attn_seq_len", "0"),
                _SORT,
                _KERNEL,
                _TMA,
            ),
        ),
        Function("hstu_mha_cuda", _ATTENTION, (_MAX_LEN, *all_same("alpha", "q", "k", "v", "seq_offsets"), _TARGETS, *_MASK)),
        Function(
            "delta_hstu_mha",
            _ATTENTION,
            (_MAX_LEN, *all_same("alpha", "delta_q", "k", "v", "seq_offsets"), _TARGETS, *_MASK, _KERNEL, _TMA),
            "It records no gradient.",
        ),
        Function("hstu_compute_uqvk", _COMPUTE, (*_WEIGHT_DOTS, *all_same("uvqk_weight", "uvqk_bias"), _KERNEL)),
        Function(
            "hstu_compute_output",
            _COMPUTE,
            (
                *_OUTPUT_STAGE,
                _DROPOUT,
                *all_same("training", "concat_u", "concat_x"),
                raises(
                    "mul_u_activation_type",
                    "other names than `none`, `silu` and `sigmoid`, which the source reads as `none`",
                    "'relu'",
                ),
                same("group_norm"),
                ignored("recompute_y_in_backward", _RECOMPUTE, "True"),
                _KERNEL,
            ),
            "The source's Triton kernel leaves out `mul_u_activation_type` in the forward pass; here it is applied, as in its "
            "PyTorch form.",
        ),
        Function(
            "hstu_preprocess_and_attention",
            _COMPUTE,
            _preprocess(tma=_default(_TMA, "None")),
        ),
        Function(
            "concat_2D_jagged",
            _JAGGED,
            (
                _BOUND,
                *all_same("values_left", "values_right"),
                same("max_len_left", "None", "rows of a dense part; where there are offsets it is not read, and cuts nothing"),
                same("max_len_right", "None", "likewise"),
                same("offsets_left", "None"),
                same("offsets_right", "None"),
                _KERNEL,
            ),
        ),
        Function(
            "concat_2D_jagged_multirow",
            _JAGGED,
            (
                _BOUND,
                *all_same("values_left", "values_right", "offsets_left", "offsets_right", "max_len_left", "max_len_right"),
                _KERNEL,
            ),
        ),
        Function("split_2D_jagged", _JAGGED, _SPLIT),
        Function("split_2D_jagged_multirow", _JAGGED, _SPLIT),
        Function(
            "hstu_split_l2_embeddings",
            _JAGGED,
            (_BOUND, *all_same("x", "prefix_offsets", "l2_offsets", "contextual_seq_len"), _KERNEL),
            "`prefix_offsets`' last is read on the host, as in the source.",
        ),
        Function(
            "hstu_concat_l2_embeddings",
            _JAGGED,
            (
                ignored("max_prefix_len", "all rows are covered, whatever it is", "1000"),
                *all_same("prefix_x", "prefix_offsets"),
                ignored("max_l2_len", "likewise", "1000"),
                *all_same("l2_x", "l2_offsets", "contextual_seq_len"),
                _KERNEL,
            ),
        ),
        Function("jagged_dense_bmm_broadcast_add", _JAGGED, _BMM),
        Function("layer_norm", _NORM, _LAYER_NORM),
        Function("rms_norm", _NORM, (*all_same("x", "weight"), same("eps", "1e-5"), _KERNEL, same("silu", "False"))),
        Function("swish_layer_norm", _NORM, _LAYER_NORM),
        Function("LayerNorm", _NORM, _MODULE_DIM),
        Function("RMSNorm", _NORM, _MODULE_DIM),
        Function("RMSNormSilu", _NORM, _MODULE_DIM),
        Function("SwishLayerNorm", _NORM, _MODULE_DIM),
        Function(
            "add_timestamp_positional_embeddings", "generative_recommenders.ops.position", (*_TIMES_HEAD, _KERNEL), _TIMES_NOTE
        ),
        Function("addmm", "generative_recommenders.ops.mm", _ADDMM),
        Function(
            "STULayerConfig",
            _STU,
            (
                *all_same("embedding_dim", "num_heads", "hidden_dim", "attention_dim"),
                same(
                    "output_dropout_ratio",
                    "0.3",
                    "drawn by PyTorch's generator of the device: other elements than the source's",
                ),
                raises("causal", "`False`: `STULayer` refuses it", "False", "True"),
                same("target_aware", "True"),
                same("max_attn_len", "None"),
                same("attn_alpha", "None"),
                same("use_group_norm", "False"),
                ignored("recompute_normed_x", _RECOMPUTE, "False", "True"),
                ignored("recompute_uvqk", "likewise", "False", "True"),
                ignored("recompute_y", "likewise", "False", "True"),
                _default(_SORT, "True", "False"),
                same("contextual_seq_len", "0"),
                same("scaling_seqlen", "0", "of this library: the divisor; 0 means `max_seq_len`"),
                same("min_full_attn_seq_len", "0", "of this library: as in `hstu_mha`"),
                same("padded", "False", "of this library: with gradients, rows behind the last sequence are allowed"),
            ),
        ),
        Function("STULayer", _STU, (same("config"), _INFERENCE), "A `state_dict` of the source loads."),
        Function("STULayer.forward", _STU, _STU_CALL),
        Function("STULayer.cached_forward", _STU, _STU_CACHED, "It records no gradient."),
        Function("STUStack", _STU, (same("stu_list"), _INFERENCE)),
        Function("STUStack.forward", _STU, _STU_CALL),
        Function("STUStack.cached_forward", _STU, _STU_CACHED, "It records no gradient."),
    ),
    (_PADDING, _AUTOCAST),
)

_SCALING = same("scaling_seqlen", "-1", "-1 means `max_seq_len`")
_FUNC = same(
    "attn_func", "None", "the mask; with it `num_targets` and the other options of the mask are not read, as in the source"
)

TZREC = Source(
    "tzrec",
    "https://github.com/alibaba/TorchEasyRec",
    "Functions of `tzrec/ops`. `STULayer` and `STUStack` of `tzrec/modules/gr` call them, and so run on hstujit once they "
    "are patched.",
    (
        Function(
            "hstu_mha",
            "tzrec.ops.hstu_attention",
            (
                _MAX_LEN,
                *all_same("alpha", "q", "k", "v", "seq_offsets"),
                _default(_CAUSAL, "True"),
                raises("dropout_pr", "above 0 with `training`: attention has no dropout", "0.1", "0.0"),
                same("training", "True", "read for `dropout_pr` alone; grad mode says whether gradients are recorded"),
                _TARGETS,
                *_MASK,
                same("min_full_attn_seq_len", "0"),
                _SORT,
                _KERNEL,
                _TMA,
                _FUNC,
                _SCALING,
            ),
        ),
        Function(
            "delta_hstu_mha",
            "tzrec.ops.hstu_attention",
            (_MAX_LEN, *all_same("alpha", "delta_q", "k", "v", "seq_offsets"), _TARGETS, *_MASK, _KERNEL, _TMA, _SCALING),
            "It records no gradient.",
        ),
        Function(
            "hstu_compute_uqvk",
            "tzrec.ops.hstu_compute",
            (
                *_WEIGHT_DOTS,
                *all_same("uvqk_weight", "uvqk_bias"),
                _KERNEL,
                ignored("recompute_normed_x_in_backward", _RECOMPUTE, "True", "False"),
                ignored("recompute_uvqk_in_backward", _RECOMPUTE, "True", "False"),
            ),
        ),
        Function(
            "hstu_compute_output",
            "tzrec.ops.hstu_compute",
            (
                *_OUTPUT_STAGE,
                _DROPOUT,
                *all_same("training", "concat_ux", "group_norm"),
                ignored("recompute_y_in_backward", _RECOMPUTE, "True"),
                _KERNEL,
            ),
        ),
        Function("hstu_preprocess_and_attention", "tzrec.ops.hstu_compute", _preprocess(_FUNC, _SCALING, tma=_TMA)),
        Function(
            "concat_2D_jagged",
            "tzrec.ops.jagged_tensors",
            (
                *all_same("values_left", "values_right"),
                same("max_len_left", note="rows of a dense part; where there are offsets it is not read, and cuts nothing"),
                same("max_len_right", note="likewise"),
                same("offsets_left", "None"),
                same("offsets_right", "None"),
                _KERNEL,
            ),
        ),
        Function("split_2D_jagged", "tzrec.ops.jagged_tensors", _SPLIT),
        Function("jagged_dense_bmm_broadcast_add", "tzrec.ops.jagged_tensors", _BMM),
        Function("layer_norm", "tzrec.ops.layer_norm", _LAYER_NORM),
        Function("rms_norm", "tzrec.ops.layer_norm", (*all_same("x", "weight"), same("eps", "1e-5"), _KERNEL)),
        Function("swish_layer_norm", "tzrec.ops.layer_norm", _LAYER_NORM),
        Function(
            "add_positional_embeddings",
            "tzrec.ops.position",
            (
                _ALPHA,
                _BOUND,
                *all_same("position_embeddings_weight", "seq_offsets"),
                _LENGTHS,
                *all_same("seq_embeddings", "num_targets", "interleave_targets"),
                _KERNEL,
            ),
            "More targets than rows count as all of the rows, where the source reads the table's last row.",
        ),
        Function(
            "add_timestamp_positional_embeddings",
            "tzrec.ops.position",
            (*_TIMES_HEAD, same("time_bucket_increments", "60.0"), _KERNEL, same("query_time", "None")),
            _TIMES_NOTE,
        ),
        Function("addmm", "tzrec.ops.mm", _ADDMM),
        Function(
            "build_sla_func_tensor",
            "tzrec.ops.hstu_attention_utils",
            (
                *all_same("nheads", "sla_k1", "sla_k2", "seq_offsets", "total_q"),
                same("num_targets", "None"),
                same("contextual_seq_len", "0"),
                raises("device", "another device than that of `seq_offsets`", "'meta'", "None"),
            ),
        ),
    ),
    (_PADDING, _AUTOCAST.partition(" `STULayer`")[0]),
)

_WINDOW = same("window_size", "(-1, -1)", "(-1, 0) is causal, (-1, -1) sees all")
_PAGES = (
    same("kv_cache", "None", "[pages, 2, page size, num_heads, head_dim]; no gradient"),
    same("page_offsets", "None"),
    same("page_ids", "None"),
    same("last_page_lens", "None"),
)
_VARLEN = (
    *all_same("q", "k", "v", "cu_seqlens_q"),
    same("cu_seqlens_k", note="other offsets than q's: attention of each sequence's last rows, which records no gradient"),
)
_BIAS = (
    same("alpha", "1.0"),
    same("rab", "None", "added before `alpha`; 4 dimensions, or 3 of one head for all"),
    same("has_drab", "False"),
)
_SCALED_BY_Q = "-1 means `max_seqlen_q`"
_FUNC_BOUNDS = same("func", "None", "[1 or num_heads, bounds, total_q or more]")
_NVIDIA_NOTES = (
    _PADDING,
    "SiLU is exact, where the source's kernels give 0 below -20, and -10 in the gradient.",
    "With gradients, q and k of as many rows and the same longest sequence count as the same sequences.",
    "`num_contexts` and `num_targets` beside `func` raise: `func` says all of the mask.",
)

HSTU = Source(
    "hstu",
    "https://github.com/NVIDIA/recsys-examples (the wheel `hstu` of its FBGEMM)",
    "The attention that recsys-examples and TorchEasyRec import from `hstu`.",
    (
        Function(
            "hstu_attn_varlen_func",
            "hstu",
            (
                *_VARLEN,
                raises("seqused_q", "a tensor: give offsets of the rows that are used", "t"),
                raises("seqused_k", "likewise", "t"),
                *all_same("max_seqlen_q", "max_seqlen_k"),
                same("scaling_seqlen", "-1", _SCALED_BY_Q),
                same("num_contexts", "None"),
                _TARGETS,
                same("target_group_size", "1"),
                _WINDOW,
                *_BIAS,
                *_PAGES,
                _FUNC_BOUNDS,
                raises(
                    "quant_mode",
                    "modes 1 to 4, whose scales are of parts of q, k and v; 0 and 5, with one scale for each, are the same, of "
                    "whole sequences, without `rab` and gradients",
                    "2",
                    "-1",
                ),
            ),
        ),
    ),
    _NVIDIA_NOTES,
    ("hstu.hstu_ops_gpu",),
)

_OLD_HEAD = (
    *all_same("max_seqlen_q", "max_seqlen_k"),
    same("num_contexts", "None"),
    _TARGETS,
    same("target_group_size", "1"),
    _WINDOW,
    *_BIAS,
)

HSTU_ATTN = Source(
    "hstu_attn",
    "https://github.com/NVIDIA/recsys-examples/tree/main/corelib/hstu",
    "The package `hstu_attn` of `corelib/hstu`.",
    (
        Function(
            "hstu_attn_varlen_func",
            "hstu_attn",
            (
                *_VARLEN,
                *_OLD_HEAD,
                *_PAGES,
                same("cu_seqlens_t", "None", "read where `num_targets` is absent, which it says as well"),
                _FUNC_BOUNDS,
                same("scaling_seqlen", "-1", _SCALED_BY_Q),
            ),
        ),
        Function(
            "hstu_attn_qkvpacked_func",
            "hstu_attn",
            (
                same("qkv", note="[total, 3, num_heads, head_dim]"),
                *all_same("cu_seqlens_q", "cu_seqlens_k"),
                *_OLD_HEAD,
                _FUNC_BOUNDS,
                same("scaling_seqlen", "-1", _SCALED_BY_Q),
            ),
        ),
    ),
    _NVIDIA_NOTES,
)

_OWN = "of this library"
TRITON = Source(
    "triton_ops",
    "https://github.com/LessUp/triton-fused-ops",
    "Functions and modules of `triton_ops`. Its tuner and its benchmarks are `hstujit.tune` and `hstujit.bench`.",
    (
        Function(
            "fused_rmsnorm_rope",
            "triton_ops",
            (
                *all_same("x", "weight", "cos", "sin"),
                same("eps", "1e-6"),
                raises("num_heads", "another number than that of heads in a row", "7", "None"),
            ),
        ),
        Function(
            "fused_gated_mlp",
            "triton_ops",
            (
                same("x", note="any leading dimensions"),
                *all_same("gate_weight", "up_weight"),
                raises("activation", "other names than `silu` and `gelu`", "'relu'", "'silu'"),
            ),
        ),
        Function(
            "fp8_gemm",
            "triton_ops",
            (
                raises("a", "uint8, the source's format; FP8 is `torch.float8_e4m3fn`", "t.to(torch.uint8)"),
                raises("b", "likewise", "t.to(torch.uint8)"),
                same("a_scale", "None"),
                same("b_scale", "None"),
                same("output_dtype", "torch.float16"),
            ),
        ),
        Function("quantize_fp8", "triton_ops", (same("tensor"), same("scale", "None"))),
        Function(
            "dequantize_fp8",
            "triton_ops",
            (
                raises("tensor", "uint8, the source's format; FP8 is `torch.float8_e4m3fn`", "t.to(torch.uint8)"),
                same("scale"),
                same("output_dtype", "torch.float16"),
            ),
        ),
        Function(
            "FusedRMSNormRoPE",
            "triton_ops",
            (
                *all_same("hidden_dim", "head_dim"),
                same("eps", "1e-6"),
                same("device", "None", _OWN),
                same("dtype", "None", _OWN),
            ),
        ),
        Function("FusedRMSNormRoPE.forward", "triton_ops", all_same("x", "cos", "sin")),
        Function(
            "FusedGatedMLP",
            "triton_ops",
            (
                *all_same("hidden_dim", "intermediate_dim"),
                raises("activation", "other names than `silu` and `gelu`", "'relu'", "'silu'"),
                same("device", "None", _OWN),
                same("dtype", "None", _OWN),
            ),
        ),
        Function("FusedGatedMLP.forward", "triton_ops", all_same("x")),
        Function(
            "FP8Linear",
            "triton_ops",
            (
                *all_same("in_features", "out_features"),
                same("bias", "False"),
                same("x_scaling", "Fp8Scaling.ROW", f"{_OWN}; the source has one scale for all of x"),
                same("w_scaling", "Fp8Scaling.ROW", f"{_OWN}; the source has one scale for all of the weight"),
                same("device", "None", _OWN),
                same("dtype", "None", _OWN),
            ),
            "The weight is quantised again when it has changed; the source quantises it once.",
        ),
        Function("FP8Linear.forward", "triton_ops", all_same("x")),
    ),
    (
        "FP8 is `torch.float8_e4m3fn`, where the source stores 8-bit integers in equal steps. Results differ by the rounding "
        "of either format.",
        "Nothing here has a gradient: where one is needed it raises, where the source gives a result without one.",
        "Errors are `hstujit.Error`, not the source's classes.",
        "Tensors need not lie on a GPU, nor be contiguous.",
    ),
)

SOURCES: tuple[Source, ...] = (META, HSTU, HSTU_ATTN, TZREC, TRITON)
"""Every source, in the order of the documentation."""
