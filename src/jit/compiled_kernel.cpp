#include "jit/compiled_kernel.hpp"

#include <algorithm>
#include <charconv>

namespace hstujit {
namespace {

// The number in front of `unit` in the line, or 0: number_before("Used 30 registers, ...", " registers") is 30.
int number_before(std::string_view line, std::string_view unit) {
  const size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  int value = 0;
  std::from_chars(line.data() + start, line.data() + end, value);
  return value;
}

}  // namespace

void CompiledKernel::read_log() {
  registers = stack_bytes = spill_bytes = static_smem_bytes = 0;
  for (std::string_view rest = log; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // The frame's line comes once per function that was not inlined; all of them burden the kernel.
    stack_bytes = std::max(stack_bytes, number_before(line, " bytes stack frame"));
    spill_bytes += number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    if (line.find("Used ") == std::string_view::npos) continue;
    registers = std::max(registers, number_before(line, " registers"));
    static_smem_bytes = std::max(static_smem_bytes, number_before(line, " bytes smem"));
  }
}

std::string_view CompiledKernel::flaw() const {
  if (spill_bytes > 0) return "registers spill to memory";
  if (stack_bytes > 0) return "needs a stack frame";
  if (log.find("Potential Performance Loss") != std::string::npos) return "ptxas warns of a potential performance loss";
  return {};
}

}  // namespace hstujit
