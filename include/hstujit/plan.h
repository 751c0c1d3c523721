/**
 * Plans: a call with everything decided beforehand, for hosts whose shapes repeat.
 *
 * A call of an operator checks its arguments, keys them, finds their kernel and fills its parameters: some hundred
 * nanoseconds. A plan did all that when it was made. Launching it with the same arguments costs tens of nanoseconds
 * beyond the driver's own launch, and little more with other buffers of the same shapes:
 *
 *   hstu_plan* plan;
 *   hstu_layer_norm_plan(&plan, context, &norm, stream);            // once: compiles, loads or tunes like a call
 *   hstu_plan_launch(plan, NULL, stream);                           // the arguments it was made with
 *   norm.x.data = other;  hstu_plan_launch(plan, &norm, stream);    // other buffers
 *
 * Each operator and each chain has such a function: HSTU_TYPED_PLAN stands behind its declaration. hstu_plan_get is the
 * same for hosts that have the name as a text. Included by the headers of the operators.
 */
#ifndef HSTUJIT_PLAN_H
#define HSTUJIT_PLAN_H

#include <hstujit/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One operator, or one chain of them, on fixed shapes and attributes. */
typedef struct hstu_plan hstu_plan;

/**
 * Makes the plan of a call, without running it. Owned by the caller, who gives it to hstu_plan_release.
 *
 * op    name of the operator, as hstu_operator_name has it; or of a chain: "compute_uvqk", "preprocess_and_attention",
 *       "compute_output", "stack", "fp8_linear". The plan of a chain makes all of its steps ready.
 * args  the args struct of the operator or chain; copied, with the arrays on the host that it points to. The buffers
 *       it names are needed by launches without arguments only.
 *
 * Errors: those of the operator. As with a call, what happens when the problem has no kernel yet is the context's
 * hstu_miss_policy. Under HSTU_MISS_ASYNC a stand-in serves until the plan's own kernel arrives; the plan takes it by
 * itself.
 */
HSTU_API hstu_status hstu_plan_get(hstu_plan** out, hstu_context* context, const char* op, const void* args,
                                   hstu_stream stream);

/** hstu_<op>_plan: hstu_plan_get of one operator or chain, with arguments that the compiler checks. */
#define HSTU_TYPED_PLAN(op)                                                                                        \
  static inline hstu_status hstu_##op##_plan(hstu_plan** out, hstu_context* context, const hstu_##op##_args* args, \
                                             hstu_stream stream) {                                                 \
    return hstu_plan_get(out, context, #op, args, stream);                                                         \
  }

/**
 * Queues the plan's operator, or all steps of its chain. args NULL means the arguments that the plan was made with.
 * Other arguments must be of the plan's problem, or problems: they may have other buffers, and other sizes that the
 * library takes for the same problem (batch size, rows and longest sequence are compared as powers of two). They are
 * checked as by the operator or chain itself.
 *
 * Any number of threads may launch one plan. A launch makes no call of the driver but the launch itself, so it may be
 * captured into a CUDA graph; it compiles and loads nothing.
 * Errors: INVALID_ARGUMENT naming what differs from the plan, or when the context was destroyed or belongs to the
 * parent of a fork; those of the operator.
 */
HSTU_API hstu_status hstu_plan_launch(hstu_plan* plan, const void* args, hstu_stream stream);

/** Frees a plan that no thread is launching any more, before or after its context. NULL is allowed. */
HSTU_API void hstu_plan_release(hstu_plan* plan);

#ifdef __cplusplus
}
#endif
#endif
