#include "families/fit.hpp"

#include <algorithm>

namespace hstujit {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxRegisters = 255;  // per thread

}  // namespace

std::string_view misfit(const Resources& r, const DeviceFacts& device) {
  if (r.threads < 1) return "no threads in a block";
  if (r.min_blocks < 1) return "no block on an SM";
  if (r.smem_bytes < 0 || r.registers < 0 || r.holders < 0) return "less than nothing of a resource";
  if (r.smem_bytes > device.smem_per_block) return "more shared memory than a block may have";
  if (r.threads > kMaxThreads) return "more than 1024 threads in a block";
  if (int64_t{r.threads} * r.min_blocks > device.threads_per_sm) return "more threads than an SM holds";
  if (r.registers > kMaxRegisters) return "more than 255 registers a thread";
  const int64_t holders = r.holders > 0 ? r.holders : r.threads;
  if (r.registers * holders * r.min_blocks > device.registers_per_sm) return "more registers than an SM has";
  return {};
}

bool listed(const Family& family, const Config& config) {
  for (size_t knob = 0; knob < config.value.size(); ++knob) {
    const int32_t value = config.value[knob];
    if (knob >= family.knobs.size()
            ? value != 0
            : std::ranges::find(family.knobs[knob].values, value) == family.knobs[knob].values.end())
      return false;
  }
  return true;
}

bool fits(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device) {
  return listed(family, config) && legal(family, problem, config, device) &&
         misfit(family.resources(problem, config), device).empty();
}

bool runs(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device) {
  return listed(family, config) && works(family, problem, config, device) &&
         misfit(family.resources(problem, config), device).empty();
}

}  // namespace hstujit
