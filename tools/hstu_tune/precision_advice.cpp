#include "hstu_tune/precision_advice.hpp"

#include "hstu_tune/table.hpp"
#include "operators/dense/addmm.hpp"
#include "operators/fp8/fp8_gemm.hpp"

#include <fmt/format.h>

namespace hstujit::tool {
namespace {

/// Whether addmm of `wide` computes what fp8_gemm of `narrow` does; w in either layout.
bool same_product(const Problem& narrow, const Problem& wide) {
  return wide.op == Op::addmm && wide[addmm::kDtype] == narrow[fp8_gemm::kDtype] &&
         wide[addmm::kM] == narrow[fp8_gemm::kM] && wide[addmm::kN] == narrow[fp8_gemm::kN] &&
         wide[addmm::kK] == narrow[fp8_gemm::kK] && wide[addmm::kBias] == narrow[fp8_gemm::kBias] &&
         wide[addmm::kActivation] == narrow[fp8_gemm::kActivation] &&
         wide[addmm::kActColumns] == narrow[fp8_gemm::kActColumns] && wide[addmm::kXTransposed] == 0 &&
         wide[addmm::kSplit] == narrow[fp8_gemm::kSplit];
}

}  // namespace

std::string precision_advice(const Record& record, std::span<const Record> all) {
  if (record.problem.op != Op::fp8_gemm || record.problem[fp8_gemm::kDtype] == HSTU_DTYPE_F32) return "";
  const Record* best = nullptr;
  for (const Record& other : all)
    if (other.device_class == record.device_class && same_product(record.problem, other.problem) &&
        (!best || other.trial.timing.median_ns < best->trial.timing.median_ns))
      best = &other;
  if (!best || best->trial.timing.median_ns >= record.trial.timing.median_ns) return "";
  return fmt::format("{} would be faster: addmm takes {}",
                     name_of(static_cast<hstu_dtype>(best->problem[addmm::kDtype])),
                     duration_text(static_cast<double>(best->trial.timing.median_ns) * 1e-9));
}

}  // namespace hstujit::tool
