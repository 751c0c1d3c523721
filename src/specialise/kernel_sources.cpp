#include "specialise/kernel_sources.hpp"

#include "support/embedded_text.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

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

const KernelSources::Known& KernelSources::file_named(const std::string& name, std::string_view included_by) {
  if (const auto known = files_.find(name); known != files_.end()) return known->second;
  std::optional<std::string> text = folder_.empty() ? embedded_text(name) : file_text(folder_ + "/" + name);
  if (!text && folder_.empty())
    fail(HSTU_ERROR_INTERNAL, "kernel source \"{}\", wanted by {}, is not among the embedded files", name, included_by);
  if (!text)
    fail(HSTU_ERROR_COMPILE,
         "kernel source \"{}\", wanted by {}, cannot be read in {} (HSTUJIT_KERNELS): the folder needs the layout of "
         "the project's kernels/",
         name, included_by, folder_);
  Known file{name, std::move(*text), {}, {}};
  file.digest = digest(file.text);
  file.includes = included_names(file.text);
  return files_.emplace(name, std::move(file)).first->second;
}

const SourceClosure& KernelSources::closure(std::string_view header) {
  const std::lock_guard lock(mutex_);
  if (const auto known = closures_.find(header); known != closures_.end()) return known->second;
  std::map<std::string, std::string> wanted{{std::string(header), "the unit"}};  // name -> who includes it
  std::map<std::string_view, const Known*> seen;
  while (!wanted.empty()) {
    const auto [name, includer] = *wanted.begin();
    wanted.erase(wanted.begin());
    if (seen.contains(name)) continue;
    const Known& file = file_named(name, includer);
    seen.emplace(file.name, &file);
    for (const std::string& included : file.includes) wanted.emplace(included, name);
  }
  SourceClosure closure;
  Digester digester;
  for (const auto& [name, file] : seen) {
    closure.files.push_back({file->name.c_str(), file->text.c_str()});
    digester.add(name).add(file->digest.hex());
  }
  closure.digest = digester.finish();
  return closures_.emplace(header, std::move(closure)).first->second;
}

}  // namespace hstujit
