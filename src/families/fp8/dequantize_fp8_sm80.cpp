// dequantize_fp8_sm80: widening of FP8, bound by memory, kernels/fp8/dequantize_fp8_sm80.cuh.
#include "families/families.hpp"
#include "families/fp8/fp8_elements.hpp"
#include "fp8/dequantize_fp8.h"
#include "operators/fp8/dequantize_fp8.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "support/ceil_div.hpp"

namespace hstujit {
namespace {

enum : int { kThreads, kAccesses, kVector, kKnobCount };

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kVectorValues[] = {1, 2, 4, 8, 16};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner"},
    {"accesses", kAccessesValues, "loads in flight a thread, whose scales arrive together"},
    {"vector", kVectorValues, "elements an access: 16 bytes of q, or of x"},
};

bool vector_is_the_widest(const Problem& p, const Config& c, const DeviceFacts&) {
  return fp8_elements::vector_allowed(p[dequantize_fp8::kVector], static_cast<hstu_dtype>(p[dequantize_fp8::kDtype]),
                                      c[kVector]);
}

constexpr Rule kRules[] = {
    {"an access must be as wide as alignment allows, or half of it", vector_is_the_widest},
};

bool covers(const Problem& p, const DeviceFacts&) { return p[dequantize_fp8::kColumns] > 0; }

/// Measured on an H200: whole 16-byte stores of x.
Config default_config(const Problem& p, const DeviceFacts&) {
  Config c;
  c[kThreads] = 256;
  c[kAccesses] = 2;
  c[kVector] = p[dequantize_fp8::kVector];
  if (c[kVector] * size_of(static_cast<hstu_dtype>(p[dequantize_fp8::kDtype])) == 32) c[kVector] /= 2;
  return c;
}

Resources resources(const Problem&, const Config& c) { return {c[kThreads], 0, 8 + 4 * c[kAccesses], 1}; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[dequantize_fp8::kDtype])));
  text.type("Fp8", device_type(static_cast<hstu_dtype>(p[dequantize_fp8::kFp8])));
  text.constant("kScaling", p[dequantize_fp8::kScaling]);
  text.constant("kColumns", p[dequantize_fp8::kColumns]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kVector", c[kVector]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem&, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_dequantize_fp8_args*>(args);
  const int64_t step = int64_t{c[kThreads]} * c[kAccesses] * c[kVector];
  launch.grid[0] = static_cast<uint32_t>(ceil_div(a.q.shape[0] * a.q.shape[1], step));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  auto& p = launch.emplace<hstu::DequantizeFp8Params>();
  p.q = a.q.data;
  p.descale = static_cast<const float*>(a.descale.data);
  p.x = a.x.data;
  p.rows = a.q.shape[0];
  p.q_row_stride = a.q.stride[0];
  p.x_row_stride = a.x.stride[0];
  p.descale_row_stride = fp8::row_stride(a.descale, static_cast<hstu_fp8_scaling>(a.scaling));
  p.descale_column_stride = fp8::column_stride(a.descale, static_cast<hstu_fp8_scaling>(a.scaling));
}

}  // namespace

const Family kDequantizeFp8Sm80 = {
    .name = "dequantize_fp8_sm80",
    .room = "fp8",
    .op = Op::dequantize_fp8,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
