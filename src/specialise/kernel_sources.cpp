#include "specialise/kernel_sources.hpp"

#include "support/embedded_text.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

namespace hstujit {
namespace {

std::optional<std::string> embedded_text(std::string_view name) {
  const auto files = embedded_kernels();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  if (found == files.end()) return std::nullopt;
  return std::string(found->text);
}

std::optional<std::string> file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  return text;
}

std::string_view without_leading_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

// The name in one line `#include "name"`, or nothing.
std::optional<std::string_view> included_name(std::string_view line) {
  line = without_leading_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_leading_blanks(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = without_leading_blanks(line.substr(7));
  if (!line.starts_with('"')) return std::nullopt;
  const size_t end = line.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(1, end - 1);
}

}  // namespace

std::vector<std::string> included_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (const auto name = included_name(text.substr(0, end))) names.emplace_back(*name);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

KernelSources::KernelSources(std::string folder) : folder_(std::move(folder)) {}

const std::string& KernelSources::text_of(const std::string& name, std::string_view included_by) {
  if (const auto known = texts_.find(name); known != texts_.end()) return known->second;
  std::optional<std::string> text = folder_.empty() ? embedded_text(name) : file_text(folder_ + "/" + name);
  if (!text && folder_.empty())
    fail(HSTU_ERROR_INTERNAL, "kernel source \"{}\", wanted by {}, is not among the embedded files", name, included_by);
  if (!text)
    fail(HSTU_ERROR_COMPILE,
         "kernel source \"{}\", wanted by {}, cannot be read in {} (HSTUJIT_KERNELS): the folder needs the layout of "
         "the project's kernels/",
         name, included_by, folder_);
  return texts_.emplace(name, std::move(*text)).first->second;
}

const SourceClosure& KernelSources::closure(std::string_view header) {
  const std::lock_guard lock(mutex_);
  if (const auto known = closures_.find(header); known != closures_.end()) return known->second;
  std::map<std::string, std::string> wanted{{std::string(header), "the unit"}};  // name -> who includes it
  std::set<std::string> seen;
  SourceClosure closure;
  while (!wanted.empty()) {
    const auto [name, includer] = *wanted.begin();
    wanted.erase(wanted.begin());
    if (!seen.insert(name).second) continue;
    const std::string& text = text_of(name, includer);
    for (std::string& included : included_names(text)) wanted.emplace(std::move(included), name);
    closure.files.push_back({name, text});
  }
  std::ranges::sort(closure.files, {}, &SourceClosure::File::name);
  Digester digester;
  for (const SourceClosure::File& file : closure.files) digester.add(file.name).add(file.text);
  closure.digest = digester.finish();
  return closures_.emplace(header, std::move(closure)).first->second;
}

}  // namespace hstujit
