// jagged_to_padded_dense_sm80: a jagged tensor as padded matrices, kernels/jagged/jagged_to_padded_dense_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/padded.hpp"
#include "operators/operators.hpp"
#include "support/element.hpp"

#include <cstring>

namespace hstujit {
namespace {

/// The padding as 16 bytes of elements.
void fill(unsigned (&words)[4], hstu_dtype dtype, double padding) {
  alignas(16) std::byte element[8] = {};
  store(hstu_vector(element, dtype, 1), 0, 1, &padding);
  const auto size = static_cast<size_t>(size_of(dtype));
  for (size_t at = 0; at < sizeof words; at += size)
    std::memcpy(reinterpret_cast<std::byte*>(words) + at, element, size);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_to_padded_dense_args*>(args);
  auto& p = padded::bind(a.values, a.out, a.offsets, a.out.shape[0] * a.out.shape[1], problem, config, launch);
  fill(p.padding, a.values.dtype, a.padding);
}

}  // namespace

const Family kJaggedToPaddedDenseSm80 = {
    .name = "jagged_to_padded_dense_sm80",
    .room = "jagged",
    .op = Op::jagged_to_padded_dense,
    .min_compute_capability = 80,
    .knobs = padded::kKnobs,
    .rules = padded::kRules,
    .covers = padded::covers,
    .default_config = padded::default_config,
    .resources = padded::resources,
    .write_config = padded::write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
