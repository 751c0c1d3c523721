#include "families/due_sources.hpp"

#include "specialise/kernel_sources.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/source_dir.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace hstujit::test {
namespace {

constexpr size_t kShares = 16;

std::string_view asked() {
  const char* const value = std::getenv("HSTUJIT_COMPILE");
  return value ? value : "";
}

size_t share_of_today() {
  if (!asked().empty()) return std::stoul(std::string(asked())) % kShares;
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()).time_since_epoch();
  return static_cast<size_t>(days.count()) % kShares;
}

std::string digest_of(const std::vector<const Source*>& sources) {
  KernelSources kernels;
  Digester digester;
  for (const Source* source : sources) {
    digester.add(source->unit).add(source->entry).add(kernels.closure(source->header).digest.hex());
    for (const std::string& option : source->options) digester.add(option);
  }
  return digester.finish().hex();
}

bool is_listed(const std::string& line) {
  std::string list;
  const std::string path = (source_dir() / "tests/families/compiled.txt").string();
  if (read_file(path, list) != 0) throw std::runtime_error(path + " cannot be read");
  return ("\n" + list).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

DueSources due_sources(std::string_view family, std::string_view target, const std::vector<const Source*>& all) {
  DueSources due{all, fmt::format("{} {} {}", family, target, digest_of(all))};
  if (asked() == "all" || !is_listed(due.line)) return due;
  due.sources.clear();
  // Families of few sources begin at places of their own, so that a day has its share of each kind.
  const size_t first = (share_of_today() + digest(fmt::format("{} {}", family, target)).low) % kShares;
  for (size_t i = first; i < all.size(); i += kShares) due.sources.push_back(all[i]);
  if (due.sources.empty()) due.sources.push_back(all[first % all.size()]);
  return due;
}

void note_compiled(const DueSources& compiled, size_t of) {
  const char* const path = std::getenv("HSTUJIT_COMPILED");
  if (path && compiled.sources.size() == of) std::ofstream(path, std::ios::app) << compiled.line << '\n';
}

}  // namespace hstujit::test
