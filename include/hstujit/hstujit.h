/**
 * libhstujit: run-time-compiled, auto-tuned kernels for HSTU recommenders (Zhai et al. 2024, arXiv:2402.17152).
 *
 * The tour: statuses and tensors (base.h), the context (here), operators (one header a group: norm.h, dense.h, fp8.h,
 * attention.h, jagged.h, position.h), layers made of them (layer.h), plans (plan.h), operators as data (describe.h),
 * looking inside (here). A host creates one context per device, describes buffers with hstu_tensor, and calls operators
 * on its own CUDA stream:
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

#include <hstujit/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSTU_VERSION_MAJOR 0
#define HSTU_VERSION_MINOR 1
#define HSTU_VERSION_PATCH 0

/** "major.minor.patch" of the library in use. */
HSTU_API const char* hstu_version(void);

/* ------------------------------------------------------------------------------------------------- the context */

/** What a call does when its problem has no tuned record yet. A record that fits exactly is always used. */
typedef enum hstu_miss_policy {
  HSTU_MISS_DEFAULT = 0, /* the family's default configuration, compiled on demand */
  HSTU_MISS_NEAREST = 1, /* the nearest tuned record's configuration, else the default; compiled on demand */
  HSTU_MISS_TUNE = 2,    /* tune now on buffers of its own, keep the winner, then run it: seconds, synchronises */
  HSTU_MISS_FAIL = 3,    /* never compile: HSTU_ERROR_NOT_READY unless the store already has the kernel */
  /* Never wait: as DEFAULT, but the kernel is prepared in the background. Until it is there, a kernel that is loaded
   * for the same problem at another batch size, row count or longest sequence stands in. Without such a kernel the call
   * returns HSTU_ERROR_NOT_READY and can be tried again. Where the system has no thread to give, that next call
   * prepares the kernel itself. So live traffic needs no other warming than one call per shape of the model, followed
   * by hstu_context_finish. Works while a stream is being captured. */
  HSTU_MISS_ASYNC = 4
} hstu_miss_policy;

/** Start from zeros and set struct_size = sizeof(hstu_context_options). Strings are copied. */
typedef struct hstu_context_options {
  size_t struct_size;
  /** "cuda" or NULL: device 0. "cuda:N": device N. With "@sm_80" behind either, or another of the targets below, only
   *  kernels of that generation and older ones run, so that generations can be compared; their records are kept apart.
   *  "cpu": the double-precision reference, for checks and machines without a GPU. "sm_80", "sm_86", "sm_89", "sm_90a":
   *  compile and store only. No device is needed; operators prepare their kernel and return without running it. */
  const char* device;
  hstu_miss_policy miss_policy;
  /** Whoever can write to a store or a pack decides which code runs on the device: bytes are checked against damage,
   * not against forgery. A path is doubtful where it belongs to a user other than root and this process's, where
   * everybody may write to it, or where everybody may exchange it (a folder above it without the sticky bit). 0: a
   * doubtful path that was named here or in the environment is used, with a warning; one from HOME or XDG_CACHE_HOME is
   * left out, with a warning. Not 0: any doubtful path is HSTU_ERROR_STORE. A store that comes from HOME or
   * XDG_CACHE_HOME is made for its user alone (0700). A group's right to write is the administrator's affair. */
  int32_t strict_store;
  /** Folder of the writable store (tuning database and compiled kernels). NULL: $HSTUJIT_STORE, else
   *  $XDG_CACHE_HOME/hstujit, else ~/.cache/hstujit. "": keep all in memory. A relative path is resolved at once. */
  const char* store_path;
  /** A read-only store underneath it, e.g. one shipped in a container: the folder of a store, or a pack, the file that
   *  hstu-tune build makes. NULL: $HSTUJIT_SYSTEM_STORE, else none. */
  const char* system_store_path;
  /** Budget of one HSTU_MISS_TUNE search, in milliseconds. 0: 30,000. */
  int64_t tune_budget_ms;
} hstu_context_options;

/**
 * Creates the context of one device. options NULL means all defaults. Reads the environment once (HSTUJIT_*, listed in
 * docs/serving.md); loads the CUDA driver unless the device needs none; does not load NVRTC.
 * Errors: INVALID_ARGUMENT (unknown device text, struct_size), STORE (strict_store), DEVICE (no driver, no such
 * device), OUT_OF_MEMORY (28 KB of the device's are needed).
 */
HSTU_API hstu_status hstu_context_create(hstu_context** out, const hstu_context_options* options);

/**
 * Waits for calls inside the context, unloads its kernels and frees it. Graphs that captured its calls must not be
 * launched afterwards. Later calls, from threads that did not hear of it, return INVALID_ARGUMENT. A context belongs to
 * the process that created it: in a child process after fork() its calls return INVALID_ARGUMENT too, and destroying it
 * does nothing. NULL is allowed, and so is a second time. Destroying from within a library call of the same thread (a
 * log sink, say) is not.
 */
HSTU_API void hstu_context_destroy(hstu_context* context);

/** Changes the miss policy; calls already under way keep the old one. */
HSTU_API hstu_status hstu_context_set_miss_policy(hstu_context* context, hstu_miss_policy policy);

/** Waits until nothing is being prepared in the background (HSTU_MISS_ASYNC); where the system has no thread to give
 * for that, prepares it itself. */
HSTU_API hstu_status hstu_context_finish(hstu_context* context);

/**
 * Fixes which kernel each problem runs, for good. Preparations under way are waited for. From then on nothing is
 * compiled, loaded, tuned or exchanged, and a problem without a plan gets HSTU_ERROR_NOT_READY. For ranks that must
 * agree (warm all, then freeze all) and for hosts whose latency must not change any more.
 */
HSTU_API hstu_status hstu_context_freeze(hstu_context* context);

/**
 * Whether this context's device takes a call, without making it: HSTU_OK, or the status that the call would give, with
 * the reason in hstu_last_error. Compiles, loads, tunes and launches nothing, whatever the miss policy.
 *
 * op    name of an operator or of a chain, as in hstu_plan_get. A chain's steps are all asked for
 * args  its args struct, as the call would get it: workspaces count. Buffers are not read, so any aligned addresses
 *       that do not overlap will do; arrays on the host are read
 *
 * Errors: INVALID_ARGUMENT, SHAPE_MISMATCH, UNSUPPORTED_DTYPE and UNSUPPORTED, as of the call. HSTU_OK is no promise of
 * a kernel: the call itself may still find none ready, or fail to compile or to load one. On device "cpu" it may find
 * that offsets decrease, or the like.
 */
HSTU_API hstu_status hstu_context_takes(hstu_context* context, const char* op, const void* args);

/* ---------------------------------------------------------------------------------------------- looking inside */

/** Number of operators, and the name of one, e.g. "layer_norm"; NULL past the end. Static memory. What one takes says
 *  hstu_operator_describe, in describe.h. */
HSTU_API int32_t hstu_operator_count(void);
HSTU_API const char* hstu_operator_name(int32_t index);

/** What a context has done since its creation. A host built before unusable_records was added is answered as then. */
typedef struct hstu_counters {
  size_t struct_size;
  int64_t plans;               /* problems with a loaded kernel */
  int64_t compiles;            /* kernels compiled by this context */
  int64_t store_hits;          /* kernels loaded from the store instead */
  int64_t tunes;               /* problems tuned by this context */
  int64_t tuned_plans;         /* plans from an exact record */
  int64_t nearest_plans;       /* plans from a nearest record */
  int64_t default_plans;       /* plans from a default configuration */
  int64_t stand_ins;           /* plans that began with another bucket's kernel (HSTU_MISS_ASYNC) */
  int64_t background_plans;    /* plans whose kernel arrived from the background */
  int64_t failed_preparations; /* background work that ended in an error; the next such call gets it */
  int64_t not_ready;           /* calls refused with HSTU_ERROR_NOT_READY or HSTU_ERROR_STREAM_CAPTURING */
  int64_t loads;               /* kernels loaded by the driver */
  int64_t damaged;             /* entries of the store that were damaged and set aside */
  int64_t evictions;           /* entries removed from the store to keep its limits */
  int64_t compile_ns;          /* time spent compiling, */
  int64_t store_ns;            /* reading kernels from stores and packs, */
  int64_t load_ns;             /* and in the driver's loading; nanoseconds over all threads */
  int64_t unusable_records;    /* misses whose record did not compile, load or launch: the default runs instead */
} hstu_counters;
HSTU_API hstu_status hstu_context_counters(const hstu_context* context, hstu_counters* out);

/**
 * The counters as text for Prometheus (exposition format 0.0.4), each with the label device. Writes at most `size`
 * bytes to text, a terminating zero among them, and to *needed, unless NULL, how many it takes; text may be NULL when
 * size is 0. Errors: INVALID_ARGUMENT when `size` does not suffice, with *needed set.
 */
HSTU_API hstu_status hstu_context_metrics(const hstu_context* context, char* text, size_t size, size_t* needed);

/**
 * While on is not 0, counts what calls ask for: operators, shapes and attributes, never contents. A call is some tens
 * of nanoseconds slower, and takes no lock and no memory. Counting goes on where it stopped.
 */
HSTU_API hstu_status hstu_context_record_traffic(hstu_context* context, int32_t on);

/**
 * Writes what was counted so far as a workload file, for hstu-tune tune FILE --by-time. The shapes that take most of
 * the time come first. *left_out, unless NULL, is the number of shapes that such a file cannot express.
 * Errors: INVALID_ARGUMENT when nothing was counted, STORE when the file cannot be written. Devices and links stay.
 */
HSTU_API hstu_status hstu_context_write_traffic(hstu_context* context, const char* path, int64_t* left_out);

#ifdef __cplusplus
}
#endif

/* --------------------------------------------------------------------------------------------------- operators */
/*
 * Every operator takes (context, args, stream). args is read during the call only. struct_size must be
 * sizeof(the struct), in this release or an earlier one; of a struct within a struct it is that or 0. Members a caller
 * does not set stay zero and mean the documented default. Outputs must not overlap inputs unless said. Common errors:
 * INVALID_ARGUMENT, SHAPE_MISMATCH, UNSUPPORTED_DTYPE, UNSUPPORTED (each naming the field), and on a first call
 * NOT_READY, STREAM_CAPTURING, COMPILE, TUNING, DEVICE.
 *
 * "16-bit" means HSTU_DTYPE_BF16 or HSTU_DTYPE_F16. Accumulation and statistics are in f32, with one rounding to the
 * output type. Zero rows, zero sequences and empty sequences are legal everywhere and launch nothing when nothing is
 * to be done.
 */
#include <hstujit/attention.h>
#include <hstujit/dense.h>
#include <hstujit/describe.h>
#include <hstujit/fp8.h>
#include <hstujit/jagged.h>
#include <hstujit/layer.h>
#include <hstujit/norm.h>
#include <hstujit/plan.h>
#include <hstujit/position.h>

#endif
