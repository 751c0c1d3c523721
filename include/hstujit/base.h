/**
 * Types that every header of libhstujit uses: statuses, element types, tensors, streams. Included by hstujit.h.
 */
#ifndef HSTUJIT_BASE_H
#define HSTUJIT_BASE_H

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

/* ---------------------------------------------------------------------------------------------------- statuses */

/** Every status with its name and meaning. X(symbol, value, text) */
#define HSTU_STATUS_MAP(X)                                                                                          \
  X(HSTU_OK, 0, "success")                                                                                          \
  X(HSTU_ERROR_INVALID_ARGUMENT, 1, "an argument is null, negative, misaligned or inconsistent; the text names it") \
  X(HSTU_ERROR_SHAPE_MISMATCH, 2, "the shapes of two tensors do not fit together")                                  \
  X(HSTU_ERROR_UNSUPPORTED_DTYPE, 3, "no kernel family takes this element type")                                    \
  X(HSTU_ERROR_UNSUPPORTED, 4, "no kernel family covers the problem on this device")                                \
  X(HSTU_ERROR_NOT_READY, 5, "no kernel is ready and the miss policy, or freezing, forbids waiting for one")        \
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

/* ----------------------------------------------------------------------------------------------------- tensors */

typedef enum hstu_dtype {
  HSTU_DTYPE_NONE = 0, /* an absent tensor */
  HSTU_DTYPE_F32 = 1,
  HSTU_DTYPE_F16 = 2,
  HSTU_DTYPE_BF16 = 3,
  HSTU_DTYPE_I32 = 4,
  HSTU_DTYPE_I64 = 5,
  HSTU_DTYPE_E4M3 = 6, /* 8-bit floating point without infinity, largest value 448 */
  HSTU_DTYPE_E5M2 = 7, /* 8-bit floating point, largest finite value 57344 */
  HSTU_DTYPE_U8 = 8,   /* U8 and I16 are copied: no operator computes with them */
  HSTU_DTYPE_I16 = 9,
  HSTU_DTYPE_F64 = 10 /* stands where f32 may on device "cpu" alone; copied everywhere */
} hstu_dtype;

#define HSTU_MAX_RANK 5

/** A bit of hstu_tensor's flags: strides are meant as they stand, zeros too. */
#define HSTU_STRIDES_GIVEN 1

/** Exactly 0, in a member whose 0 means a default: eps, alpha, amin. It is the negative zero. */
#define HSTU_EXACT_ZERO (-0.0f)

/**
 * A view of a caller's buffer; nothing is owned or copied. data lies on the context's device (for device "cpu": in
 * host memory) and must be aligned to its element. An all-zero hstu_tensor means "absent". A tensor without dtype, data
 * and rank is absent whatever shape and stride hold.
 *
 * shape   extents, outermost first; any may be 0
 * stride  distance between neighbours of a dimension, in elements, not negative. All zero means contiguous (row-major),
 *         unless flags has HSTU_STRIDES_GIVEN. The last stride must be 1 unless an operator says otherwise; the others
 *         are free, so slices need no copy. An input may have strides of 0, an output only where the extent is 1
 * flags   0 or HSTU_STRIDES_GIVEN
 */
typedef struct hstu_tensor {
  void* data;
  hstu_dtype dtype;
  int16_t rank;
  uint16_t flags;
  int64_t shape[HSTU_MAX_RANK];
  int64_t stride[HSTU_MAX_RANK];
} hstu_tensor;

/** Contiguous tensors of rank 1, 2 and 3. Inputs may be const buffers: operators never write them. */
static inline hstu_tensor hstu_vector(const void* data, hstu_dtype dtype, int64_t n) {
  hstu_tensor t = {(void*)data, dtype, 1, 0, {n}, {1}};
  return t;
}
static inline hstu_tensor hstu_matrix(const void* data, hstu_dtype dtype, int64_t rows, int64_t columns) {
  hstu_tensor t = {(void*)data, dtype, 2, 0, {rows, columns}, {columns, 1}};
  return t;
}
static inline hstu_tensor hstu_heads(const void* data, hstu_dtype dtype, int64_t rows, int64_t heads, int64_t dim) {
  hstu_tensor t = {(void*)data, dtype, 3, 0, {rows, heads, dim}, {heads * dim, dim, 1}};
  return t;
}

/** A CUDA stream: CUstream and cudaStream_t are this type. NULL is the legacy default stream; ignored on "cpu". */
typedef struct CUstream_st* hstu_stream;

/** How results of a gradient may differ from run to run. */
typedef enum hstu_determinism {
  HSTU_DETERMINISTIC = 0, /* the same bits in every run of a plan on the same GPU model */
  HSTU_FASTEST = 1        /* the order of sums may change where that is faster */
} hstu_determinism;

/** Element-wise functions that operators apply. */
typedef enum hstu_activation {
  HSTU_ACTIVATION_NONE = 0,
  HSTU_ACTIVATION_SILU = 1,
  HSTU_ACTIVATION_SIGMOID = 2,
  HSTU_ACTIVATION_GELU = 3,     /* x Phi(x) */
  HSTU_ACTIVATION_GELU_TANH = 4 /* its approximation with tanh */
} hstu_activation;

/** One device with its compiled kernels and tuned records; see hstujit.h. */
typedef struct hstu_context hstu_context;

#ifdef __cplusplus
}
#endif
#endif
