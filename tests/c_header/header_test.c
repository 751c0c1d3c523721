/* The public header compiled as strict C, warnings as errors, and linked against the shared library. */
#include <hstujit/hstujit.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  hstu_context_options options = {0};
  hstu_context* context = NULL;
  hstu_plan* plan = NULL;
  hstu_layer_norm_args args = {0};
  float x[2] = {1.0f, 3.0f}, y[2] = {0.0f, 0.0f};

  options.struct_size = sizeof options;
  options.device = "cpu";
  options.store_path = "";
  if (hstu_context_create(&context, &options) != HSTU_OK) {
    fprintf(stderr, "%s\n", hstu_last_error());
    return 1;
  }
  args.struct_size = sizeof args;
  args.x = hstu_matrix(x, HSTU_DTYPE_F32, 1, 2);
  args.y = hstu_matrix(y, HSTU_DTYPE_F32, 1, 2);
  if (hstu_layer_norm(context, &args, NULL) != HSTU_OK || y[0] > -0.999f || y[1] < 0.999f) {
    fprintf(stderr, "layer_norm: %s, y = %g %g\n", hstu_last_error(), (double)y[0], (double)y[1]);
    return 1;
  }
  if (hstu_layer_norm(context, NULL, NULL) != HSTU_ERROR_INVALID_ARGUMENT || !strstr(hstu_last_error(), "args"))
    return 1;
  y[0] = 0.0f;
  if (hstu_plan_get(&plan, context, "layer_norm", &args, NULL) != HSTU_OK ||
      hstu_plan_launch(plan, NULL, NULL) != HSTU_OK || y[0] > -0.999f) {
    fprintf(stderr, "plan: %s, y = %g %g\n", hstu_last_error(), (double)y[0], (double)y[1]);
    return 1;
  }
  hstu_plan_release(plan);
  hstu_context_destroy(context);
  return strcmp(hstu_version(), "0.1.0") != 0;
}
