#include "verify/golden_cases.hpp"

#include <fmt/format.h>

namespace hstujit::verify {

void run_case(const Safetensors& file, GoldenCall& call) {
  for (const auto cases : {norm_cases(), dense_cases(), attention_cases(), layer_cases(), jagged_cases()})
    for (const GoldenCase& entry : cases)
      if (entry.op == file.text("op")) return entry.run(call);
  throw Skip{fmt::format("{}: no such operator", file.text("op"))};
}

}  // namespace hstujit::verify
