/* A host in C: one layer norm on the CPU. */
#include <hstujit/hstujit.h>

#include <stdio.h>

int main(void) {
  const float x[2] = {1, 3};
  float y[2];
  hstu_context* context = NULL;
  hstu_context_options options = {sizeof options, "cpu", HSTU_MISS_DEFAULT, 0, "", "", 0};
  hstu_layer_norm_args norm = {0};
  norm.struct_size = sizeof norm;
  norm.x = hstu_matrix(x, HSTU_DTYPE_F32, 1, 2);
  norm.out = hstu_matrix(y, HSTU_DTYPE_F32, 1, 2);
  if (hstu_context_create(&context, &options) != HSTU_OK || hstu_layer_norm(context, &norm, NULL) != HSTU_OK) {
    fprintf(stderr, "%s\n", hstu_last_error());
    return 1;
  }
  hstu_context_destroy(context);
  printf("version %s, layer norm of 1 3: %.4f %.4f\n", hstu_version(), y[0], y[1]);
  return 0;
}
