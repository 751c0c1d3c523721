/* The public headers compiled as strict C99 and as C++20, warnings as errors, and linked against the shared library. */
#include <hstujit/hstujit.h>

#include <stdio.h>
#include <string.h>

static int near(float value, double expected) {
  const double error = (double)value - expected;
  return error > -1e-3 && error < 1e-3;
}

static hstu_context* create(void) {
  hstu_context* context = NULL;
  hstu_context_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "cpu";
  options.store_path = "";
  if (hstu_context_create(&context, &options) != HSTU_OK) fprintf(stderr, "%s\n", hstu_last_error());
  return context;
}

static int normalises(hstu_context* context) {
  hstu_plan* plan = NULL;
  hstu_layer_norm_args args;
  float x[2] = {1.0f, 3.0f}, out[2] = {0.0f, 0.0f};
  memset(&args, 0, sizeof args);
  args.struct_size = sizeof args;
  args.x = hstu_matrix(x, HSTU_DTYPE_F32, 1, 2);
  args.out = hstu_matrix(out, HSTU_DTYPE_F32, 1, 2);
  args.eps = HSTU_EXACT_ZERO;
  if (hstu_layer_norm(context, &args, NULL) != HSTU_OK || !near(out[0], -1) || !near(out[1], 1)) return 0;
  if (hstu_layer_norm(context, NULL, NULL) != HSTU_ERROR_INVALID_ARGUMENT || !strstr(hstu_last_error(), "args"))
    return 0;
  out[0] = 0.0f;
  if (hstu_layer_norm_plan(&plan, context, &args, NULL) != HSTU_OK || hstu_plan_launch(plan, NULL, NULL) != HSTU_OK ||
      !near(out[0], -1))
    return 0;
  hstu_plan_release(plan);
  return 1;
}

/* Two heads of one row, which sees itself alone: silu(2 * 3) * v. */
static int attends(hstu_context* context) {
  hstu_attention_args args;
  float q[2] = {2.0f, 2.0f}, k[2] = {3.0f, 3.0f}, v[2] = {1.0f, -1.0f}, out[2] = {0.0f, 0.0f};
  const int32_t offsets[2] = {0, 1};
  memset(&args, 0, sizeof args);
  args.struct_size = sizeof args;
  args.q = hstu_heads(q, HSTU_DTYPE_F32, 1, 2, 1);
  args.k = hstu_heads(k, HSTU_DTYPE_F32, 1, 2, 1);
  args.v = hstu_heads(v, HSTU_DTYPE_F32, 1, 2, 1);
  args.out = hstu_heads(out, HSTU_DTYPE_F32, 1, 2, 1);
  args.seq_offsets = hstu_vector(offsets, HSTU_DTYPE_I32, 2);
  args.mask.kind = HSTU_MASK_CAUSAL;
  args.max_seq_len = 1;
  return hstu_attention(context, &args, NULL) == HSTU_OK && near(out[0], 5.98516) && near(out[1], -5.98516);
}

/* One row for all: strides of zero are meant. */
static int broadcasts(hstu_context* context) {
  hstu_softmax_args args;
  float x[2] = {0.0f, 0.0f}, out[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  memset(&args, 0, sizeof args);
  args.struct_size = sizeof args;
  args.x = hstu_matrix(x, HSTU_DTYPE_F32, 2, 2);
  args.x.stride[0] = 0;
  args.x.flags = HSTU_STRIDES_GIVEN;
  args.out = hstu_matrix(out, HSTU_DTYPE_F32, 2, 2);
  return hstu_softmax(context, &args, NULL) == HSTU_OK && near(out[0], 0.5) && near(out[3], 0.5);
}

/* What a call takes, without its header; and whether it does here. */
static int describes(hstu_context* context) {
  const hstu_operator_description* softmax = NULL;
  hstu_softmax_args args;
  float x[2] = {0.0f, 0.0f}, out[2] = {0.0f, 0.0f};
  memset(&args, 0, sizeof args);
  args.struct_size = sizeof args;
  if (hstu_operator_describe(&softmax, "softmax") != HSTU_OK || softmax->args_size != sizeof args) return 0;
  if (softmax->members[1].offset != offsetof(hstu_softmax_args, out)) return 0;
  args.x = hstu_vector(x, HSTU_DTYPE_F32, 2);
  args.out = hstu_vector(out, HSTU_DTYPE_F32, 2);
  if (hstu_context_takes(context, "softmax", &args) != HSTU_ERROR_INVALID_ARGUMENT) return 0;
  args.x = hstu_matrix(x, HSTU_DTYPE_F32, 1, 2);
  args.out = hstu_matrix(out, HSTU_DTYPE_F32, 1, 2);
  return hstu_context_takes(context, "softmax", &args) == HSTU_OK && near(out[0], 0);
}

static int counts(hstu_context* context) {
  hstu_counters counters;
  hstu_layer_dims dims;
  memset(&counters, 0, sizeof counters);
  counters.struct_size = sizeof counters;
  dims.num_heads = 2;
  dims.attn_dim = 3;
  dims.hidden_dim = 5;
  return hstu_context_counters(context, &counters) == HSTU_OK && counters.compiles == 0 &&
         hstu_uvqk_columns(dims) == 32;
}

int main(void) {
  hstu_context* context = create();
  if (!context) return 1;
  if (!normalises(context) || !attends(context) || !broadcasts(context) || !describes(context) || !counts(context)) {
    fprintf(stderr, "a result is wrong, or a call failed: %s\n", hstu_last_error());
    return 1;
  }
  hstu_context_destroy(context);
  return strcmp(hstu_version(), "0.1.0") != 0;
}
