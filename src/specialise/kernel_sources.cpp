#include "specialise/kernel_sources.hpp"

#include "support/embedded_text.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

namespace hstujit {
namespace {

std::optional<std::string_view> embedded_text(std::string_view name) {
  const auto files = embedded_kernels();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return found == files.end() ? std::nullopt : std::optional(found->text);
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

// The name in `#include "name"` of which this is what follows the first character, up to the line's end; or nothing.
std::optional<std::string_view> included_name(std::string_view line) {
  line = without_leading_blanks(line);
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
  for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    const std::string_view before = text.substr(0, at);
    const size_t last = before.find_last_not_of(" \t");
    if (last != std::string_view::npos && before[last] != '\n') continue;  // within a line
    const std::string_view line = text.substr(at + 1, std::min(text.find('\n', at), text.size()) - at - 1);
    if (const auto name = included_name(line)) names.emplace_back(*name);
  }
  return names;
}

KernelSources::KernelSources(std::string folder) : folder_(std::move(folder)) {}

std::string_view KernelSources::text_of(const std::string& name, std::string_view included_by) {
  if (folder_.empty()) {
    if (const auto text = embedded_text(name)) return *text;
    fail(HSTU_ERROR_INTERNAL, "kernel source \"{}\", wanted by {}, is not among the embedded files", name, included_by);
  }
  if (auto text = file_text(folder_ + "/" + name)) return read_.emplace_back(std::move(*text));
  fail(HSTU_ERROR_COMPILE,
       "kernel source \"{}\", wanted by {}, cannot be read in {} (HSTUJIT_KERNELS): the folder needs the layout of "
       "the project's kernels/",
       name, included_by, folder_);
}

const KernelSources::Known& KernelSources::file_named(const std::string& name, std::string_view included_by) {
  if (const auto known = files_.find(name); known != files_.end()) return known->second;
  const std::string_view text = text_of(name, included_by);
  return files_.emplace(name, Known{name, text, digest(text), included_names(text)}).first->second;
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
    closure.files.push_back({file->name.c_str(), file->text.data()});
    digester.add(name).add(file->digest.hex());
  }
  closure.digest = digester.finish();
  return closures_.emplace(header, std::move(closure)).first->second;
}

}  // namespace hstujit
