// ops: the operators, what decides about their kernels, and the families that provide them.
#include "families/family.hpp"
#include "hstu_tune/command.hpp"
#include "hstu_tune/table.hpp"

#include <fmt/format.h>

namespace hstujit::tool {
namespace {

const char* kind_name(FieldKind kind) { return kind == FieldKind::bucket ? "~" : ""; }

std::string key_text(Op op) {
  std::string text;
  for (const FieldInfo& field : fields_of(op))
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", kind_name(field.kind), field.name);
  return text;
}

std::string knob_text(const Knob& knob) { return fmt::format("{}={}", knob.name, fmt::join(knob.values, ",")); }

void print_family(const Family& family) {
  fmt::print("  {}, compute capability {}.{} or newer\n", family.name, family.min_compute_capability / 10,
             family.min_compute_capability % 10);
  for (const Knob& knob : family.knobs) fmt::print("    {:<24} {}\n", knob_text(knob), knob.why);
}

int ops() {
  for (const Operator& op : operators()) {
    fmt::print("{}\n  key: {}\n", op.name, key_text(op.op));
    for (const Family* family : all_families())
      if (family->op == op.op) print_family(*family);
  }
  fmt::print("~ bucketed to a power of two; everything else is exact\n");
  return 0;
}

}  // namespace

void add_ops(Command& program) {
  program.subcommand("ops", "List operators, their keys, kernel families and knobs").runs(ops);
}

}  // namespace hstujit::tool
