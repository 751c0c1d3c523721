#include "families/families.hpp"

#include "operators/f64.hpp"

#include <algorithm>

namespace hstujit {
namespace {

#define HSTUJIT_ADDRESS(name) &k##name,
const Family* const kFamilies[] = {HSTUJIT_FAMILIES(HSTUJIT_ADDRESS)};
#undef HSTUJIT_ADDRESS

}  // namespace

std::span<const Family* const> all_families() { return kFamilies; }

bool covers(const Family& family, const Problem& problem, const DeviceFacts& device) {
  return family.op == problem.op && device.compute_capability >= family.min_compute_capability &&
         !computes_in_f64(problem) && family.covers(problem, device);
}

std::vector<const Family*> families_for(const Problem& problem, const DeviceFacts& device) {
  std::vector<const Family*> found;
  for (const Family* family : kFamilies)
    if (covers(*family, problem, device)) found.push_back(family);
  return found;
}

bool is_covered(const Problem& problem, const DeviceFacts& device) {
  return std::ranges::any_of(kFamilies, [&](const Family* family) { return covers(*family, problem, device); });
}

const Family* family_named(std::string_view name) {
  for (const Family* family : kFamilies)
    if (family->name == name) return family;
  return nullptr;
}

}  // namespace hstujit
