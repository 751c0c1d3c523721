// A host in C++11: one layer norm on the CPU.
#include <hstujit/hstujit.h>

#include <cstdio>

int main() {
  const float x[2] = {1, 3};
  float y[2];
  hstu_context* context = nullptr;
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = "cpu";
  options.store_path = options.system_store_path = "";
  hstu_layer_norm_args norm{};
  norm.struct_size = sizeof norm;
  norm.x = hstu_matrix(x, HSTU_DTYPE_F32, 1, 2);
  norm.out = hstu_matrix(y, HSTU_DTYPE_F32, 1, 2);
  if (hstu_context_create(&context, &options) != HSTU_OK || hstu_layer_norm(context, &norm, nullptr) != HSTU_OK) {
    std::fprintf(stderr, "%s\n", hstu_last_error());
    return 1;
  }
  hstu_context_destroy(context);
  std::printf("version %s, layer norm of 1 3: %.4f %.4f\n", hstu_version(), y[0], y[1]);
}
