#include "records/remark.hpp"

namespace hstujit {

std::string_view remark(const Family& family, const Config& config) {
  if (family.op != Op::fp8_gemm) return "";
  for (size_t i = 0; i < family.knobs.size(); ++i)
    if (family.knobs[i].name == "native" && config[static_cast<int>(i)] == 0)
      return "multiplies in f16, which holds e4m3 and e5m2 exactly";
  return "";
}

}  // namespace hstujit
