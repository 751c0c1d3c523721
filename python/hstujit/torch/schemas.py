"""The reviewed table of torch operators: what torch must know of each and C structs do not say.

An `Op` is one operator `torch.ops.hstujit.<name>` and calls one C function. Several may call the same function: results
that only some calls want are an operator of their own, since torch wants a fixed number of results.

signature  Arguments as torch's schema language has them. An argument has the name of the C member that it fills
           (`hstu_operator_describe` has the names), or it serves the results' shapes and types alone. The device is that of
           the first tensor.
results    What comes out: fresh contiguous tensors, one behind another, in the order of the results.
out        Whether there is a variant `<name>_out`, which writes to tensors that the caller gives.
unused     Members of the C struct that no argument fills, each with the reason.

A result's shape is an expression in Python which is C++ as well. A tensor argument has `.size(i)` in it, a list argument
`[i]`; the functions are those of `shapes.py` and `torch_ops/shapes.hpp`. Its dtype is the name of a tensor argument, a
dtype, the name of an argument of type ScalarType, or `a or b` for one that may be absent. A result whose `when` is false
has no elements, and the C function does not get it.

The marshalling in C++ (`generate.py`), the fake kernels (`fakes.py`) and the typed functions (`hstujit.torch.ops`) follow
from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Result:
    """A fresh tensor. `name` is the C member that it fills; see the module."""

    name: str
    shape: str
    dtype: str
    when: str = ""


@dataclass(frozen=True)
class Op:
    """One operator of torch; see the module."""

    name: str
    signature: str
    results: tuple[Result, ...]
    function: str = ""  # C function without "hstu_"; "": the name
    out: bool = False
    unused: dict[str, str] = field(default_factory=dict)
    written: tuple[str, ...] = ()  # arguments that are written in place: Tensor(a!) in the signature
    gradient: bool = False  # autograd.py has a function of this name, which records gradients
    paths: dict[str, str] | None = None  # of a chain: argument -> member path of its struct; None: an operator

    @property
    def c_name(self) -> str:
        """The C function without `hstu_`."""
        return self.function or self.name


_MASK = (
    "Tensor? num_targets=None, Tensor? num_contexts=None, Tensor? intervals=None, int mask=0, int target_group_size=0, "
    "SymInt contextual_seq_len=0, SymInt max_attn_len=0, SymInt min_full_attn_seq_len=0, SymInt window_left=0, "
    "SymInt window_right=0"
)
_FP8 = {"descale": "results in FP8 are the operator <name>_fp8", "scaling": "results in FP8 are the operator <name>_fp8"}
_PARTS = dict.fromkeys(("out1", "out2", "out3"), "torch slices one result; fresh tensors may not alias")
_SHAPE_OF_X = "[x.size(0), x.size(1)]"


def _norm_fp8(
    name: str,
    signature: str,
    unused: dict[str, str] | None = None,
    rows: str = "x.size(0)",
    columns: str = "x.size(1)",
    shape: str = _SHAPE_OF_X,
) -> Op:
    return Op(
        f"{name}_fp8",
        f"{signature}, int scaling=1, ScalarType out_dtype",
        (Result("out", shape, "out_dtype"), Result("descale", f"fp8_units(scaling, {rows}, {columns})", "f32")),
        function=name,
        unused=unused or {},
    )


_NORM = (
    Op(
        "layer_norm",
        "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=0.0",
        (Result("out", _SHAPE_OF_X, "x"),),
        out=True,
        unused={**_FP8, "moments": "the operator layer_norm_with_moments has them"},
        gradient=True,
    ),
    Op(
        "layer_norm_with_moments",
        "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=0.0",
        (Result("out", _SHAPE_OF_X, "x"), Result("moments", "[x.size(0), 1, 2]", "f32")),
        function="layer_norm",
        unused=_FP8,
    ),
    _norm_fp8(
        "layer_norm",
        "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=0.0",
        {"moments": "no gradient passes through FP8"},
    ),
    Op(
        "layer_norm_backward",
        "Tensor dout, Tensor x, Tensor? weight=None, Tensor? bias=None, *, Tensor? moments=None, Tensor? dresidual=None, "
        "Tensor? valid_rows=None, float eps=0.0, int determinism=0, ScalarType? weight_grad_dtype=None, bool[3] needed",
        (
            Result("dx", _SHAPE_OF_X, "x", when="needed[0]"),
            Result("dweight", "[x.size(1)]", "weight_grad_dtype or weight", when="needed[1]"),
            Result("dbias", "[x.size(1)]", "weight_grad_dtype or weight", when="needed[2]"),
        ),
        out=True,
        unused={"accumulate": "results are fresh; layer_norm_backward_out has it"},
    ),
    Op(
        "rms_norm",
        "Tensor x, Tensor? weight=None, *, float eps=0.0, int activation=0",
        (Result("out", _SHAPE_OF_X, "x"),),
        out=True,
        unused=_FP8,
    ),
    _norm_fp8("rms_norm", "Tensor x, Tensor? weight=None, *, float eps=0.0, int activation=0"),
    Op(
        "swish_layer_norm",
        "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=0.0",
        (Result("out", _SHAPE_OF_X, "x"),),
        out=True,
    ),
    Op(
        "group_norm",
        "Tensor x, Tensor? weight=None, Tensor? bias=None, *, int num_groups, float eps=0.0",
        (Result("out", _SHAPE_OF_X, "x"),),
        out=True,
    ),
    Op(
        "rms_norm_rope",
        "Tensor x, Tensor weight, Tensor cosine, Tensor sine, *, SymInt head_dim=0, float eps=0.0",
        (Result("out", "[x.size(0), x.size(1), x.size(2)]", "x"),),
        out=True,
        unused=_FP8,
    ),
    _norm_fp8(
        "rms_norm_rope",
        "Tensor x, Tensor weight, Tensor cosine, Tensor sine, *, SymInt head_dim=0, float eps=0.0",
        rows="x.size(0) * x.size(1)",
        columns="x.size(2)",
        shape="[x.size(0), x.size(1), x.size(2)]",
    ),
    Op(
        "softmax",
        "Tensor x, *, bool log=False, bool zero_empty_rows=False",
        (Result("out", _SHAPE_OF_X, "x"),),
    ),
    Op(
        "dropout",
        "Tensor x, float ratio, SymInt seed, *, int words_per_counter=0",
        (Result("out", _SHAPE_OF_X, "x"),),
    ),
    Op(
        "norm_mul",
        "Tensor attn, Tensor u, Tensor weight, Tensor? bias=None, *, float eps=0.0, int activation=0, bool concat_u=False, "
        "bool concat_x=False, bool silu_u=False, int num_groups=0, int norm=0, int dropout_stream=0, float dropout_ratio=0.0, "
        "SymInt seed=0",
        (Result("out", "[attn.size(0), norm_mul_segments(concat_u, concat_x, num_groups) * attn.size(1)]", "attn"),),
        out=True,
        unused=_FP8,
    ),
    Op(
        "norm_mul_fp8",
        "Tensor attn, Tensor u, Tensor weight, Tensor? bias=None, *, float eps=0.0, int activation=0, bool concat_u=False, "
        "bool concat_x=False, bool silu_u=False, int num_groups=0, int norm=0, int dropout_stream=0, float dropout_ratio=0.0, "
        "SymInt seed=0, int scaling=1, ScalarType out_dtype",
        (
            Result("out", "[attn.size(0), norm_mul_segments(concat_u, concat_x, num_groups) * attn.size(1)]", "out_dtype"),
            Result(
                "descale",
                "fp8_units(scaling, attn.size(0), norm_mul_segments(concat_u, concat_x, num_groups) * attn.size(1))",
                "f32",
            ),
        ),
        function="norm_mul",
    ),
)

_DENSE = (
    Op(
        "addmm",
        "Tensor x, Tensor w, Tensor? bias=None, Tensor? residual=None, *, int activation=0, SymInt activation_columns=0, "
        "bool allow_tf32=False",
        (Result("out", "[x.size(0), w.size(1)]", "x"),),
        out=True,
        unused={**_PARTS, "out_descale": "results in FP8 are the operator addmm_fp8"},
    ),
    Op(
        "addmm_fp8",
        "Tensor x, Tensor w, Tensor? bias=None, Tensor? residual=None, *, Tensor out_descale, int activation=0, "
        "SymInt activation_columns=0, bool allow_tf32=False, ScalarType out_dtype",
        (Result("out", "[x.size(0), w.size(1)]", "out_dtype"),),
        function="addmm",
        unused=_PARTS,
    ),
    Op(
        "gated_mlp",
        "Tensor x, Tensor gate, Tensor up, *, int activation=1, bool activate_gate=False, bool allow_tf32=False",
        (Result("out", "[x.size(0), gate.size(1)]", "x"),),
        out=True,
        unused={"out_descale": "results in FP8 are the operator gated_mlp_fp8"},
    ),
    Op(
        "gated_mlp_fp8",
        "Tensor x, Tensor gate, Tensor up, *, Tensor out_descale, int activation=1, bool activate_gate=False, "
        "bool allow_tf32=False, ScalarType out_dtype",
        (Result("out", "[x.size(0), gate.size(1)]", "out_dtype"),),
        function="gated_mlp",
    ),
    Op(
        "gated_addmm",
        "Tensor attn, Tensor u, Tensor moments, Tensor weight, Tensor bias, Tensor w, Tensor? residual=None, *, float eps=0.0",
        (Result("out", "[attn.size(0), w.size(1)]", "attn"),),
        out=True,
    ),
    Op(
        "norm_addmm",
        "Tensor x, Tensor norm_weight, Tensor norm_bias, Tensor w, Tensor? bias=None, *, int activation=0, "
        "SymInt activation_columns=0, float eps=0.0",
        (Result("out", "[x.size(0), w.size(1)]", "x"),),
        out=True,
        unused=_PARTS,
    ),
)

_QUANTISED = (
    Op("fp8_amax", "Tensor x", (Result("amax", "[256]", "f32"),)),
    Op(
        "quantize_fp8",
        "Tensor x, *, int scaling=0, Tensor? amax=None, Tensor? static_descale=None, float amin=0.0, float amax_bound=0.0, "
        "bool power_of_two=False, ScalarType out_dtype",
        (
            Result("q", _SHAPE_OF_X, "out_dtype"),
            Result("descale", "fp8_units(scaling, x.size(0), x.size(1))", "f32"),
        ),
    ),
    Op(
        "dequantize_fp8",
        "Tensor q, Tensor descale, *, int scaling=0, ScalarType out_dtype",
        (Result("x", "[q.size(0), q.size(1)]", "out_dtype"),),
    ),
    Op(
        "fp8_gemm",
        "Tensor x, Tensor w, Tensor x_descale, Tensor w_descale, Tensor? bias=None, Tensor? residual=None, *, int x_scaling=1, "
        "int w_scaling=1, int accumulation=0, int activation=0, SymInt activation_columns=0, Tensor? out_descale=None, "
        "ScalarType out_dtype",
        (Result("out", "[x.size(0), w.size(0)]", "out_dtype"),),
        out=True,
        unused=_PARTS,
    ),
    Op(
        "gated_fp8_gemm",
        "Tensor attn, Tensor u, Tensor moments, Tensor weight, Tensor bias, Tensor w, Tensor w_descale, "
        "Tensor? residual=None, *, float eps=0.0",
        (Result("out", "[attn.size(0), w.size(0)]", "attn"),),
        out=True,
    ),
)

_ATTENTION_ARGUMENTS = (
    "Tensor q, Tensor k, Tensor v, Tensor seq_offsets, SymInt max_seq_len, *, float alpha=0.0, SymInt scaling_seqlen=0, "
    f"Tensor? attn_scale=None, {_MASK}, Tensor? rab=None, int num_softmax_heads=0"
)
_ATTENTION_OUT = Result("out", "[q.size(0), q.size(1), v.size(2)]", "q")
_ATTENTION = (
    Op(
        "attention",
        _ATTENTION_ARGUMENTS,
        (_ATTENTION_OUT,),
        out=True,
        unused={
            "lse": "the operator attention_with_lse has it",
            "moments": "the operator attention_with_moments has them",
        },
        gradient=True,
    ),
    Op(
        "attention_with_lse",
        _ATTENTION_ARGUMENTS,
        (_ATTENTION_OUT, Result("lse", "[num_softmax_heads, q.size(0)]", "f32")),
        function="attention",
        out=True,
        unused={"moments": "no gradient needs them"},
    ),
    Op(
        "attention_with_moments",
        _ATTENTION_ARGUMENTS,
        (_ATTENTION_OUT, Result("moments", "[q.size(0), q.size(1), 2]", "f32")),
        function="attention",
        unused={"lse": "the operator attention_with_lse has it"},
    ),
    Op(
        "attention_backward",
        "Tensor dout, Tensor q, Tensor k, Tensor v, Tensor seq_offsets, SymInt max_seq_len, *, Tensor? out=None, "
        f"Tensor? lse=None, float alpha=0.0, SymInt scaling_seqlen=0, Tensor? attn_scale=None, {_MASK}, Tensor? rab=None, "
        "int num_softmax_heads=0, int determinism=0, bool[5] needed",
        (
            Result("dq", "[q.size(0), q.size(1), q.size(2)]", "q", when="needed[0]"),
            Result("dk", "[k.size(0), k.size(1), k.size(2)]", "k", when="needed[1]"),
            Result("dv", "[v.size(0), v.size(1), v.size(2)]", "v", when="needed[2]"),
            Result("drab", "[rab.size(0), rab.size(1), rab.size(2), rab.size(3)]", "rab", when="needed[3]"),
            Result("d_attn_scale", "[attn_scale.size(0)]", "attn_scale", when="needed[4]"),
        ),
        out=True,
        unused={"accumulate": "results are fresh; attention_backward_out has it"},
    ),
    Op(
        "attention_fp8",
        "Tensor q, Tensor k, Tensor v, Tensor q_descale, Tensor k_descale, Tensor v_descale, Tensor seq_offsets, "
        f"SymInt max_seq_len, *, int scaling=0, float alpha=0.0, SymInt scaling_seqlen=0, Tensor? attn_scale=None, {_MASK}, "
        "bool fast_sums=False, int num_softmax_heads=0, ScalarType out_dtype",
        (Result("out", "[q.size(0), q.size(1), v.size(2)]", "out_dtype"),),
        out=True,
    ),
    Op(
        "delta_attention",
        "Tensor q, Tensor k, Tensor v, Tensor seq_offsets, SymInt max_seq_len, *, Tensor? q_offsets=None, SymInt max_q_len=0, "
        f"float alpha=0.0, SymInt scaling_seqlen=0, Tensor? attn_scale=None, {_MASK}, Tensor? rab=None, "
        "int num_softmax_heads=0",
        (_ATTENTION_OUT,),
        out=True,
    ),
    Op(
        "paged_attention",
        "Tensor q, Tensor? k, Tensor? v, Tensor k_cache, Tensor v_cache, Tensor last_page_lens, SymInt max_seq_len, *, "
        "Tensor? page_offsets=None, Tensor? page_ids=None, Tensor? q_offsets=None, SymInt max_q_len=0, float alpha=0.0, "
        f"SymInt scaling_seqlen=0, Tensor? attn_scale=None, {_MASK}, Tensor? rab=None, int num_softmax_heads=0",
        (Result("out", "[q.size(0), q.size(1), v_cache.size(3)]", "q"),),
        out=True,
    ),
    Op(
        "append_kv_cache",
        "Tensor k, Tensor v, Tensor(a!) k_cache, Tensor(b!) v_cache, Tensor last_page_lens, *, Tensor? page_offsets=None, "
        "Tensor? page_ids=None, Tensor? seq_offsets=None, Tensor? num_targets=None",
        (),
        written=("k_cache", "v_cache"),
    ),
    Op(
        "flash_attention",
        "Tensor q, Tensor k, Tensor v, *, Tensor? seq_offsets=None, SymInt max_seq_len=0, float scale=0.0, int mask=0",
        (Result("out", "with_last(q, v.size(-1))", "q"),),
        out=True,
        unused={"lse": "the operator flash_attention_with_lse has it"},
    ),
    Op(
        "flash_attention_with_lse",
        "Tensor q, Tensor k, Tensor v, *, Tensor? seq_offsets=None, SymInt max_seq_len=0, float scale=0.0, int mask=0",
        (Result("out", "with_last(q, v.size(-1))", "q"), Result("lse", "flash_lse(q)", "f32")),
        function="flash_attention",
    ),
    Op(
        "build_sla_func",
        "Tensor seq_offsets, SymInt total, SymInt last_keys, SymInt first_keys, *, Tensor? num_targets=None, "
        "SymInt contextual_seq_len=0",
        (Result("intervals", "[1, 3, total]", "i32"),),
    ),
    Op(
        "rel_bias",
        "Tensor timestamps, Tensor position_weights, Tensor time_weights, *, SymInt num_heads=1, ScalarType? out_dtype=None",
        (
            Result(
                "rab",
                "[timestamps.size(0), num_heads, timestamps.size(1), timestamps.size(1)]",
                "out_dtype or position_weights",
            ),
        ),
    ),
)

_JAGGED = (
    Op(
        "concat_2d_jagged",
        "Tensor left, Tensor right, *, Tensor? offsets_left=None, Tensor? offsets_right=None, SymInt max_len_left=0, "
        "SymInt max_len_right=0, SymInt n_prefix_from_right=0, bool is_replace=False",
        (Result("out", "concat_2d_shape(left, right, is_replace)", "left"),),
    ),
    Op(
        "split_2d_jagged",
        "Tensor values, SymInt total_left, *, Tensor? offsets_left=None, Tensor? offsets_right=None, SymInt max_len_left=0, "
        "SymInt max_len_right=0, SymInt n_prefix_to_right=0",
        (
            Result("left", "[total_left, values.size(1)]", "values"),
            Result("right", "[values.size(0) - total_left, values.size(1)]", "values"),
        ),
    ),
    Op(
        "jagged_dense_bmm_broadcast_add",
        "Tensor jagged, Tensor dense, Tensor seq_offsets, Tensor? bias=None, *, bool elementwise=False",
        (Result("out", "[jagged.size(0), dense.size(2)]", "jagged"),),
        out=True,
    ),
    Op(
        "jagged_dense_broadcast_add",
        "Tensor jagged, Tensor dense, Tensor seq_offsets",
        (Result("out", "[jagged.size(0), jagged.size(1)]", "jagged"),),
    ),
    Op(
        "jagged_reduce_sum",
        "Tensor jagged, Tensor seq_offsets, *, ScalarType? out_dtype=None",
        (Result("out", "[seq_offsets.size(0) - 1, jagged.size(1)]", "out_dtype or jagged"),),
    ),
    Op(
        "jagged_to_padded_dense",
        "Tensor values, Tensor offsets, SymInt max_len, float padding=0.0",
        (Result("out", "[offsets.size(0) - 1, max_len, values.size(1)]", "values"),),
    ),
    Op(
        "dense_to_jagged",
        "Tensor dense, Tensor offsets, SymInt total",
        (Result("out", "[total, dense.size(2)]", "dense"),),
    ),
    Op(
        "jagged_truncate_history",
        "Tensor values, Tensor seq_offsets, *, Tensor? num_targets=None, SymInt contextual_seq_len=0, SymInt keep=0, "
        "SymInt total",
        (
            Result("out", "with_first(values, total)", "values"),
            Result("out_offsets", "[seq_offsets.size(0)]", "seq_offsets"),
        ),
    ),
    Op(
        "sort_kv_pairs",
        "Tensor keys, Tensor values, *, int end_bit=0, bool descending=False",
        (Result("out_keys", "[keys.size(0)]", "keys"), Result("out_values", "[values.size(0)]", "values")),
    ),
    Op(
        "sort_by_length",
        "Tensor offsets",
        (Result("out", "[offsets.size(0) - 1]", "offsets"),),
    ),
    Op(
        "complete_cumsum",
        "Tensor values, *, ScalarType? out_dtype=None",
        (Result("out", "[values.size(0) + 1]", "out_dtype or values"),),
    ),
    Op(
        "concat_1d_jagged",
        "Tensor lengths_left, Tensor left, Tensor lengths_right, Tensor right",
        (Result("out", "[left.size(0) + right.size(0)]", "left"),),
    ),
    Op(
        "split_1d_jagged",
        "Tensor lengths_left, Tensor lengths_right, Tensor values, SymInt total_left",
        (
            Result("left", "[total_left]", "values"),
            Result("right", "[values.size(0) - total_left]", "values"),
        ),
    ),
    Op(
        "jagged_remove_first_or_last_1d",
        "Tensor lengths, Tensor values",
        (
            Result("without_first", "[values.size(0) - lengths.size(0)]", "values"),
            Result("without_last", "[values.size(0) - lengths.size(0)]", "values"),
        ),
    ),
    Op(
        "expand_1d_jagged_to_dense",
        "Tensor values, Tensor offsets, SymInt max_len",
        (Result("out", "[offsets.size(0) - 1, max_len]", "values"),),
    ),
    Op(
        "replace_last_n_with_jagged",
        "Tensor lengths_left, Tensor left, Tensor lengths_right, Tensor right",
        (Result("out", "[left.size(0), left.size(1)]", "left"),),
    ),
    Op(
        "jagged_transpose_1d",
        "Tensor values, Tensor offsets, Tensor? lengths, SymInt rows, SymInt columns",
        (
            Result("out", "[values.size(0)]", "values"),
            Result("out_offsets", "[offsets.size(0)]", "offsets"),
            Result("out_lengths", "[offsets.size(0) - 1]", "lengths or offsets"),
        ),
    ),
)

_POSITION = (
    Op(
        "add_positional_embeddings",
        "Tensor x, Tensor position_embeddings, Tensor seq_offsets, *, Tensor? num_targets=None, float alpha=0.0, "
        "bool interleave_targets=False",
        (Result("out", _SHAPE_OF_X, "x"),),
    ),
    Op(
        "add_timestamp_positional_embeddings",
        "Tensor x, Tensor position_embeddings, Tensor timestamp_embeddings, Tensor seq_offsets, Tensor timestamps, *, "
        "Tensor? num_targets=None, Tensor? query_time=None, float alpha=0.0, float time_bucket_increments=0.0, "
        "int time_bucket_fn=0, SymInt max_contextual_seq_len=0, bool interleave_targets=False",
        (Result("out", _SHAPE_OF_X, "x"),),
    ),
)


def _paths(prefix: str, *names: str, **others: str) -> dict[str, str]:
    return {name: prefix + name for name in names} | others


_ATTENTION_OPTIONS = (
    "Tensor seq_offsets, SymInt max_seq_len, *, int num_heads, int attn_dim, int hidden_dim, float alpha=0.0, "
    f"SymInt scaling_seqlen=0, Tensor? attn_scale=None, {_MASK}, Tensor? rab=None, int num_softmax_heads=0, float eps=0.0, "
    "int input_norm=0"
)
_OUTPUT_OPTIONS = (
    "float output_eps=0.0, int activation=0, bool concat_u=False, bool concat_x=False, bool silu_u=False, int norm=0, "
    "int dropout_stream=0, float dropout_ratio=0.0, int num_groups=0, SymInt seed=0"
)
_ATTENTION_PATHS = _paths(
    "attention.", "seq_offsets", "max_seq_len", "alpha", "scaling_seqlen", "attn_scale", "rab", "num_softmax_heads"
) | _paths(
    "attention.mask.",
    "num_targets",
    "num_contexts",
    "intervals",
    "target_group_size",
    "contextual_seq_len",
    "max_attn_len",
    "min_full_attn_seq_len",
    "window_left",
    "window_right",
    mask="attention.mask.kind",
)
_OUTPUT_NAMES = (
    "activation",
    "concat_u",
    "concat_x",
    "silu_u",
    "norm",
    "dropout_stream",
    "dropout_ratio",
    "num_groups",
    "seed",
)
_DIMS = ("num_heads", "attn_dim", "hidden_dim")
_STACK_PATHS = (
    _paths("", "x", "eps", "input_norm", "out")
    | _paths("dims.", *_DIMS)
    | _ATTENTION_PATHS
    | _paths("output.", *_OUTPUT_NAMES, output_eps="output.eps")
    | _paths("layers.", "norm_weight", "norm_bias", "uvqk_bias", "output_norm_weight", "output_norm_bias")
)

_CHAINS = (
    Op(
        "compute_uvqk",
        "Tensor x, Tensor norm_weight, Tensor norm_bias, Tensor uvqk_weight, Tensor? uvqk_bias=None, *, int num_heads, "
        "int attn_dim, int hidden_dim, float eps=0.0, int input_norm=0",
        (Result("uvqk", "[x.size(0), 2 * num_heads * (hidden_dim + attn_dim)]", "x"),),
        paths=_paths("", "x", "norm_weight", "norm_bias", "uvqk_weight", "uvqk_bias", "eps", "input_norm", "uvqk")
        | _paths("dims.", *_DIMS),
    ),
    Op(
        "preprocess_and_attention",
        f"Tensor x, Tensor norm_weight, Tensor norm_bias, Tensor uvqk_weight, Tensor? uvqk_bias, {_ATTENTION_OPTIONS}",
        (
            Result("uvqk", "[x.size(0), 2 * num_heads * (hidden_dim + attn_dim)]", "x"),
            Result("out", "[x.size(0), num_heads, hidden_dim]", "x"),
        ),
        paths=_paths("uvqk.", "x", "norm_weight", "norm_bias", "uvqk_weight", "uvqk_bias", "eps", "input_norm", "uvqk")
        | _paths("uvqk.dims.", *_DIMS)
        | _ATTENTION_PATHS
        | {"out": "attention.out"},
    ),
    Op(
        "compute_output",
        "Tensor attn, Tensor u, Tensor? residual, Tensor norm_weight, Tensor? norm_bias, Tensor output_weight, *, "
        f"{_OUTPUT_OPTIONS}",
        (Result("out", "[attn.size(0), output_weight.size(1)]", "attn"),),
        out=True,
        paths=_paths("", "attn", "u", "residual", "norm_weight", "norm_bias", "output_weight", "out")
        | _paths("options.", *_OUTPUT_NAMES, output_eps="options.eps"),
    ),
    Op(
        "stack",
        "Tensor x, Tensor[] norm_weight, Tensor[] norm_bias, Tensor[] uvqk_weight, Tensor[] uvqk_bias, "
        "Tensor[] output_norm_weight, Tensor[] output_norm_bias, Tensor[] output_weight, "
        f"{_ATTENTION_OPTIONS}, {_OUTPUT_OPTIONS}",
        (Result("out", _SHAPE_OF_X, "x"),),
        out=True,
        paths=_STACK_PATHS | _paths("layers.", "uvqk_weight", "output_weight"),
    ),
    Op(
        "stack_fp8",
        "Tensor x, Tensor[] norm_weight, Tensor[] norm_bias, Tensor[] uvqk_weight, Tensor[] uvqk_descale, Tensor[] uvqk_bias, "
        "Tensor[] output_norm_weight, Tensor[] output_norm_bias, Tensor[] output_weight, Tensor[] output_descale, "
        f"{_ATTENTION_OPTIONS}, {_OUTPUT_OPTIONS}, int accumulation=0",
        (Result("out", _SHAPE_OF_X, "x"),),
        function="stack",
        out=True,
        paths=_STACK_PATHS
        | _paths("fp8_layers.", "uvqk_weight", "uvqk_descale", "output_weight", "output_descale")
        | {"accumulation": "fp8_accumulation"},
    ),
    Op(
        "fp8_linear",
        "Tensor x, Tensor w, Tensor w_descale, Tensor? bias=None, *, int x_scaling=1, int w_scaling=1, "
        "ScalarType? out_dtype=None",
        (Result("out", "[x.size(0), w.size(0)]", "out_dtype or x"),),
        out=True,
        paths=_paths("", "x", "w", "w_descale", "bias", "x_scaling", "w_scaling", "out"),
    ),
)

OPERATORS: tuple[Op, ...] = (*_NORM, *_DENSE, *_QUANTISED, *_ATTENTION, *_JAGGED, *_POSITION, *_CHAINS)
"""Every operator, in the order of the public headers; chains last."""
