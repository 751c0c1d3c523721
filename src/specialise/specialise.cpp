// Prints the unit. What is printed is what is hashed: no dates, paths or problem names, so that problems which need
// the same code share one binary.
#include "specialise/source.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

std::string unit_of(const Family& family, const Problem& problem, const Config& config) {
  ConfigText members;
  family.write_config(members, problem, config);
  std::string unit =
      fmt::format("#include \"{}\"\nnamespace hstu {{\nstruct Config {{\n{}}};\n", family.header(), members.str());
  if (!family.smem_expression.empty())
    unit += fmt::format("static_assert({} == {}, \"host and device disagree about shared memory\");\n",
                        family.smem_expression, family.resources(problem, config).smem_bytes);
  return unit + "}  // namespace hstu\n";
}

// Canonical: always these, always in this order. -v makes ptxas report registers and spills; nothing is searched on
// disk (--no-source-include), so that only the digested files can shape the binary.
std::vector<std::string> options_for(const std::string& target) {
  return {"--gpu-architecture=" + target, "--std=c++17", "--no-source-include", "--ptxas-options=-v"};
}

}  // namespace

Source specialise(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device) {
  Source source;
  source.name = fmt::format("{} {} {}", family.name, device.target, text(family, config));
  source.header = family.header();
  source.unit = unit_of(family, problem, config);
  source.entry = fmt::format("hstu::{}<hstu::Config>", family.name);
  source.target = device.target;
  source.options = options_for(device.target);
  return source;
}

}  // namespace hstujit
