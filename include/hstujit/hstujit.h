/**
 * libhstujit: run-time-compiled, auto-tuned kernels for HSTU recommenders (Zhai et al. 2024, arXiv:2402.17152).
 *
 * The tour: 1 statuses, 2 tensors, 3 the context, 4 operators, 5 looking inside. A host creates one context per
 * device, describes buffers with hstu_tensor, and calls operators on its own CUDA stream:
 *
 *   hstu_context* ctx;
 *   hstu_context_create(&ctx, NULL);                            // cuda:0, default store, compile on a miss
 *   hstu_layer_norm_args norm = {.struct_size = sizeof norm};
 *   norm.x = hstu_matrix(x, HSTU_DTYPE_BF16, rows, 512);  ...
 *   if (hstu_layer_norm(ctx, &norm, stream) != HSTU_OK) puts(hstu_last_error());
 *
 * The first call of a problem picks a configuration (tuned record, nearest record or default, see hstu_miss_policy),
 * compiles it with NVRTC or loads it from the store; later calls are one lookup and one launch. Calls queue work on
 * the stream and do not synchronise. All functions may be called from any thread; one context may be shared by
 * threads and streams. Functions never throw, abort or print.
 */
#ifndef HSTUJIT_HSTUJIT_H
#define HSTUJIT_HSTUJIT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HSTU_API __attribute__((visibility("default")))
#else
#define HSTU_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HSTU_VERSION_MAJOR 0
#define HSTU_VERSION_MINOR 1
#define HSTU_VERSION_PATCH 0

/* ------------------------------------------------------------------------------------------------- 1. statuses */

/** Every status with its name and meaning. X(symbol, value, text) */
#define HSTU_STATUS_MAP(X)                                                                                          \
  X(HSTU_OK, 0, "success")                                                                                          \
  X(HSTU_ERROR_INVALID_ARGUMENT, 1, "an argument is null, negative, misaligned or inconsistent; the text names it") \
  X(HSTU_ERROR_SHAPE_MISMATCH, 2, "the shapes of two tensors do not fit together")                                  \
  X(HSTU_ERROR_UNSUPPORTED_DTYPE, 3, "no kernel family takes this element type")                                    \
  X(HSTU_ERROR_UNSUPPORTED, 4, "no kernel family covers the problem on this device")                                \
  X(HSTU_ERROR_NOT_READY, 5, "the miss policy forbids compiling and no stored kernel fits")                         \
  X(HSTU_ERROR_STREAM_CAPTURING, 6, "the stream is being captured and this problem has no loaded kernel yet")       \
  X(HSTU_ERROR_COMPILE, 7, "NVRTC rejected a kernel; the text has its log")                                         \
  X(HSTU_ERROR_TUNING, 8, "no candidate configuration ran correctly")                                               \
  X(HSTU_ERROR_DEVICE, 9, "the CUDA driver is missing or reported an error")                                        \
  X(HSTU_ERROR_STORE, 10, "the tuning database or kernel store cannot be used as asked")                            \
  X(HSTU_ERROR_OUT_OF_MEMORY, 11, "host or device memory ran out")                                                  \
  X(HSTU_ERROR_INTERNAL, 12, "a defect of this library; please report the text")

typedef enum hstu_status {
#define HSTU_DECLARE_STATUS(symbol, value, text) symbol = value,
  HSTU_STATUS_MAP(HSTU_DECLARE_STATUS)
#undef HSTU_DECLARE_STATUS
} hstu_status;

/** The symbol of a status, e.g. "HSTU_ERROR_COMPILE"; "HSTU_STATUS_UNKNOWN" for other values. Static memory. */
HSTU_API const char* hstu_status_name(hstu_status status);

/** What went wrong in this thread's last failing call: value, rule and way out. Valid until its next failing call;
 *  "" when nothing failed yet. */
HSTU_API const char* hstu_last_error(void);

/** "major.minor.patch" of the library in use. */
HSTU_API const char* hstu_version(void);

/* -------------------------------------------------------------------------------------------------- 2. tensors */

typedef enum hstu_dtype {
  HSTU_DTYPE_NONE = 0, /* an absent tensor */
  HSTU_DTYPE_F32 = 1,
  HSTU_DTYPE_F16 = 2,
  HSTU_DTYPE_BF16 = 3,
  HSTU_DTYPE_I32 = 4,
  HSTU_DTYPE_I64 = 5
} hstu_dtype;

#define HSTU_MAX_RANK 5

/**
 * A view of a caller's buffer; nothing is owned or copied. data lies on the context's device (for device "cpu": in
 * host memory) and must be aligned to its element. An all-zero hstu_tensor means "absent".
 *
 * shape   extents, outermost first; any may be 0
 * stride  distance between neighbours of a dimension, in elements; all zero means contiguous (row-major). The last
 *         stride must be 1 unless an operator says otherwise; the others are free, so slices need no copy.
 */
typedef struct hstu_tensor {
  void* data;
  hstu_dtype dtype;
  int32_t rank;
  int64_t shape[HSTU_MAX_RANK];
  int64_t stride[HSTU_MAX_RANK];
} hstu_tensor;

/** Contiguous tensors of rank 1, 2 and 3. Inputs may be const buffers: operators never write them. */
static inline hstu_tensor hstu_vector(const void* data, hstu_dtype dtype, int64_t n) {
  hstu_tensor t = {(void*)data, dtype, 1, {n}, {1}};
  return t;
}
static inline hstu_tensor hstu_matrix(const void* data, hstu_dtype dtype, int64_t rows, int64_t columns) {
  hstu_tensor t = {(void*)data, dtype, 2, {rows, columns}, {columns, 1}};
  return t;
}
static inline hstu_tensor hstu_heads(const void* data, hstu_dtype dtype, int64_t rows, int64_t heads, int64_t dim) {
  hstu_tensor t = {(void*)data, dtype, 3, {rows, heads, dim}, {heads * dim, dim, 1}};
  return t;
}

/** A CUDA stream: CUstream and cudaStream_t are this type. NULL is the legacy default stream; ignored on "cpu". */
typedef struct CUstream_st* hstu_stream;

/* ---------------------------------------------------------------------------------------------- 3. the context */

typedef struct hstu_context hstu_context;

/** What a call does when its problem has no tuned record yet. A record that fits exactly is always used. */
typedef enum hstu_miss_policy {
  HSTU_MISS_DEFAULT = 0, /* the family's default configuration, compiled on demand */
  HSTU_MISS_NEAREST = 1, /* the nearest tuned record's configuration, else the default; compiled on demand */
  HSTU_MISS_TUNE = 2,    /* tune now on buffers of its own, keep the winner, then run it: seconds, synchronises */
  HSTU_MISS_FAIL = 3     /* never compile: HSTU_ERROR_NOT_READY unless the store already has the kernel */
} hstu_miss_policy;

/** Start from zeros; struct_size = sizeof(hstu_context_options). Strings are copied. */
typedef struct hstu_context_options {
  size_t struct_size;
  /** "cuda" or NULL: device 0. "cuda:N". "cpu": the double-precision reference, for checks and machines without a
   *  GPU. "sm_80", "sm_86", "sm_89", "sm_90a": compile and store only, no device needed; operators then prepare their
   *  kernel and return without running it. */
  const char* device;
  hstu_miss_policy miss_policy;
  /** Folder of the writable store (tuning database and compiled kernels). NULL: $HSTUJIT_STORE, else
   *  $XDG_CACHE_HOME/hstujit, else ~/.cache/hstujit. "": keep everything in memory. */
  const char* store_path;
  /** Folder of a read-only store underneath it, e.g. one shipped in a container. NULL: $HSTUJIT_SYSTEM_STORE, else
   * none. */
  const char* system_store_path;
  /** Budget of one HSTU_MISS_TUNE search, in milliseconds. 0: 30,000. */
  int64_t tune_budget_ms;
} hstu_context_options;

/**
 * Creates the context of one device. options NULL means all defaults. Reads the environment once (HSTUJIT_*, listed in
 * the README); loads the CUDA driver unless the device needs none; does not load NVRTC.
 * Errors: INVALID_ARGUMENT (unknown device text, struct_size), DEVICE (no driver, no such device).
 */
HSTU_API hstu_status hstu_context_create(hstu_context** out, const hstu_context_options* options);

/** Unloads kernels and frees the context. NULL is allowed. No other call on the context may be running or follow. */
HSTU_API void hstu_context_destroy(hstu_context* context);

/** Changes the miss policy; calls already under way keep the old one. */
HSTU_API hstu_status hstu_context_set_miss_policy(hstu_context* context, hstu_miss_policy policy);

/* ------------------------------------------------------------------------------------------------ 4. operators */
/*
 * Every operator takes (context, args, stream). args is read during the call only. struct_size must be
 * sizeof(the struct); members a caller does not set stay zero and mean the documented default. Outputs must not
 * overlap inputs unless said. Common errors: INVALID_ARGUMENT, SHAPE_MISMATCH, UNSUPPORTED_DTYPE, UNSUPPORTED (each
 * naming the field), and on a first call NOT_READY, STREAM_CAPTURING, COMPILE, TUNING, DEVICE.
 *
 * "16-bit" means HSTU_DTYPE_BF16 or HSTU_DTYPE_F16. Accumulation and statistics are in f32, with one rounding to the
 * output type. Zero rows, zero sequences and empty sequences are legal everywhere and launch nothing when nothing is
 * to be done.
 */

/**
 * Layer norm over the last dimension: y = (x - mean) / sqrt(var + eps) * weight + bias, var biased (divided by dim).
 *
 * x, y          [rows, dim] f32 or 16-bit, same dtype; row stride free; y may be x itself
 * weight, bias  [dim] f32 or 16-bit, same dtype; both present or both absent
 * eps           0 means 1e-5
 * Source: Ba et al. 2016, arXiv:1607.06450.
 */
typedef struct hstu_layer_norm_args {
  size_t struct_size;
  hstu_tensor x, weight, bias, y;
  float eps;
} hstu_layer_norm_args;
HSTU_API hstu_status hstu_layer_norm(hstu_context* context, const hstu_layer_norm_args* args, hstu_stream stream);

typedef enum hstu_activation {
  HSTU_ACTIVATION_NONE = 0,
  HSTU_ACTIVATION_SILU = 1,
  HSTU_ACTIVATION_SIGMOID = 2
} hstu_activation;

/**
 * Matrix product with bias: z = act(x w + y), accumulated, biased and activated in f32, rounded once.
 *
 * x                   [m, k] 16-bit (f32 also on "cpu"), last stride 1
 * w                   [k, n] same dtype; strides (s, 1), or (1, s) for a weight stored [n, k]
 * y                   absent; or [n], a bias row (f32 or 16-bit); or [m, n], a residual (x's dtype); y may be z itself
 * z                   [m, n] x's dtype
 * activation          NONE or SILU
 * activation_columns  the activation covers columns [0, activation_columns) only; 0 means all n
 */
typedef struct hstu_addmm_args {
  size_t struct_size;
  hstu_tensor x, w, y, z;
  hstu_activation activation;
  int64_t activation_columns;
} hstu_addmm_args;
HSTU_API hstu_status hstu_addmm(hstu_context* context, const hstu_addmm_args* args, hstu_stream stream);

typedef enum hstu_mask { HSTU_MASK_CAUSAL = 0, HSTU_MASK_FULL = 1 } hstu_mask;

/**
 * Jagged HSTU attention, forward: out_i = 1/scaling_seqlen * sum_j allowed(i, j) silu(alpha q_i . k_j) v_j within each
 * sequence (Zhai et al. 2024, arXiv:2402.17152). Sequences lie one behind another along the rows.
 *
 * q, k                   [total, num_heads, head_dim_qk] 16-bit (f32 also on "cpu"), last stride 1, other strides free
 * v, out                 [total, num_heads, head_dim_v] same dtype; head_dim_v may differ from head_dim_qk
 * seq_offsets            [batch + 1] i32 or i64, from 0, not decreasing; rows past its last value are left untouched
 * num_targets            absent or [batch] i32 or i64: the last num_targets[b] rows see history and themselves only
 * attn_scale             absent, or f32 [1] or [total]: replaces 1/scaling_seqlen (per query row)
 * alpha                  logit scale; 0 means 1/sqrt(head_dim_qk)
 * max_seq_len            longest sequence the caller expects, > 0; longer ones are still computed
 * scaling_seqlen         divisor; 0 means max_seq_len
 * mask                   CAUSAL, or FULL (every row sees every row; not with the options below)
 * contextual_seq_len     the first rows of each sequence see all but targets (0: off)
 * max_attn_len           a row sees itself and that many previous positions (0: unlimited)
 * min_full_attn_seq_len  with max_attn_len: the last so many history rows, and all targets, are exempt (0: off)
 * A sequence shorter than contextual_seq_len + num_targets[b] attends to the diagonal only.
 */
typedef struct hstu_attention_args {
  size_t struct_size;
  hstu_tensor q, k, v, out;
  hstu_tensor seq_offsets, num_targets, attn_scale;
  float alpha;
  hstu_mask mask;
  int64_t max_seq_len;
  int64_t scaling_seqlen;
  int64_t contextual_seq_len;
  int64_t max_attn_len;
  int64_t min_full_attn_seq_len;
} hstu_attention_args;
HSTU_API hstu_status hstu_attention(hstu_context* context, const hstu_attention_args* args, hstu_stream stream);

/**
 * The HSTU output stage before its projection: t = norm(attn), out = [u' | attn | act(u) * t], all in f32, rounded
 * once.
 *
 * attn, u       [rows, dim] f32 or 16-bit, same dtype
 * weight, bias  [dim] (num_groups 0: layer norm over the row) or [num_groups] (group norm: statistics over each of the
 *               num_groups equal parts of a row); f32 or 16-bit, both present
 * out           [rows, segments * dim], attn's dtype. Layer norm: a segment u' = silu_u ? silu(u) : u if concat_u, a
 *               segment attn if concat_x, then the product. Group norm: three segments if both flags are set, else one,
 *               and u' is the multiplier.
 * activation    of the multiplier u under layer norm: NONE, SILU, SIGMOID
 * eps           0 means 1e-5
 * Source: meta-recsys/generative-recommenders, HSTU output (the DLRM-v3 layer uses concat_u = concat_x = 1).
 */
typedef struct hstu_norm_mul_args {
  size_t struct_size;
  hstu_tensor attn, u, weight, bias, out;
  float eps;
  hstu_activation activation;
  int32_t concat_u, concat_x, silu_u;
  int32_t num_groups;
} hstu_norm_mul_args;
HSTU_API hstu_status hstu_norm_mul(hstu_context* context, const hstu_norm_mul_args* args, hstu_stream stream);

/* ------------------------------------------------------------------------------------------- 5. looking inside */

/** Number of operators, and the name of one ("layer_norm", "addmm", "hstu_attention", "norm_mul"); NULL past the end.
 */
HSTU_API int32_t hstu_operator_count(void);
HSTU_API const char* hstu_operator_name(int32_t index);

/** What a context has done since its creation. */
typedef struct hstu_counters {
  size_t struct_size;
  int64_t plans;         /* problems with a loaded kernel */
  int64_t compiles;      /* kernels compiled by this context */
  int64_t store_hits;    /* kernels loaded from the store instead */
  int64_t tunes;         /* problems tuned by this context */
  int64_t tuned_plans;   /* plans from an exact record */
  int64_t nearest_plans; /* plans from a nearest record */
  int64_t default_plans; /* plans from a default configuration */
} hstu_counters;
HSTU_API hstu_status hstu_context_counters(const hstu_context* context, hstu_counters* out);

#ifdef __cplusplus
}
#endif
#endif
