#include "gpu_record/sources.hpp"

#include "families/family.hpp"
#include "gpu_record/bare_text.hpp"
#include "specialise/kernel_sources.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"

#include <algorithm>
#include <cstring>

namespace hstujit::gpu_record {
namespace {

namespace fs = std::filesystem;

const std::string kFamilies = "src/families/";

/// Of a path below src/families/: whether it is of a room, and not of all families.
bool is_of_a_room(std::string_view path) { return path.find('/', kFamilies.size()) != std::string_view::npos; }

/// Which files a text brings in is seen by what is in them; how they are named makes no difference.
std::string without_includes(std::string_view bare) {
  std::string text;
  while (!bare.empty()) {
    const std::string_view line = bare.substr(0, bare.find('\n'));
    if (!line.starts_with("#include") && line != "#pragma once") text.append(line).append("\n");
    bare.remove_prefix(std::min(line.size() + 1, bare.size()));
  }
  return text;
}

}  // namespace

Sources::Sources(fs::path root) : root_(std::move(root)) {}

const Sources::File& Sources::file(const std::string& path) {
  const auto [found, added] = files_.try_emplace(path);
  if (added) {
    if (const int error = read_file(root_ / path, found->second.text))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be read: {}", (root_ / path).string(), std::strerror(error));
    found->second.bare = without_includes(bare_text(found->second.text));
  }
  return found->second;
}

bool Sources::exists(const std::string& path) const { return fs::is_regular_file(root_ / path); }

const Sources::Paths& Sources::code_in(const std::string& folder) {
  const auto [found, added] = code_.try_emplace(folder);
  if (!added) return found->second;
  for (const auto& entry : fs::directory_iterator(root_ / folder)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".hpp") found->second.insert(fs::relative(entry.path(), root_).string());
  }
  return found->second;
}

// A family's host files share what their room shares; what is of all families alike is kLaunching's.
const Sources::Paths& Sources::included(const std::string& name, const std::string& by) {
  const std::string folder = fs::path(by).parent_path().string();
  const auto [found, added] = included_.try_emplace({name, folder});
  if (!added) return found->second;
  Paths& paths = found->second;
  if (const std::string kernel = "kernels/" + name; exists(kernel)) paths.insert(kernel);
  if (const std::string beside = folder + "/" + name; by.starts_with("tests/") && exists(beside)) paths.insert(beside);
  const std::string host = "src/" + name;
  if (!host.starts_with(kFamilies) || !is_of_a_room(host) || !exists(host)) return paths;
  paths.insert(host);
  paths.merge(code_of(name));
  return paths;
}

// What a header declares is defined in files that include it first; families are nobody's code but their own.
Sources::Paths Sources::code_of(const std::string& header) {
  Paths paths;
  for (const std::string& path : code_in(fs::path("src/" + header).parent_path().string())) {
    const std::vector<std::string> names = included_names(file(path).text);
    const bool is_code = path.ends_with(".cpp") && file(path).bare.find("const Family k") == std::string::npos;
    if (is_code && !names.empty() && names.front() == header) paths.insert(path);
  }
  return paths;
}

Sources::Paths Sources::with_included(Paths wanted) {
  Paths seen;
  while (!wanted.empty()) {
    const std::string path = *wanted.begin();
    wanted.erase(wanted.begin());
    if (!seen.insert(path).second) continue;
    for (const std::string& name : included_names(file(path).text)) {
      const Paths& more = included(name, path);
      wanted.insert(more.begin(), more.end());
    }
  }
  return seen;
}

Sources::Paths Sources::files_of_family(const std::string& name, const std::string& room, const std::string& header) {
  Paths paths;
  if (!exists("kernels/" + header)) return paths;
  paths.insert("kernels/" + header);
  const std::string quoted = "\"" + name + "\"";
  const auto names_it = [&](const std::string& path) { return file(path).bare.find(quoted) != std::string::npos; };
  std::ranges::copy_if(code_in(kFamilies + room), std::inserter(paths, paths.end()), names_it);
  if (paths.size() < 2)
    fail(HSTU_ERROR_INTERNAL, "no file of {}{} has the name of the family {} in it", kFamilies, room, name);
  return with_included(paths);
}

Sources::Paths Sources::files(const std::string& name) {
  if (name == kLaunching) {
    Paths paths;
    for (const char* folder : {"src/launch", "src/specialise"})
      paths.insert(code_in(folder).begin(), code_in(folder).end());
    paths.insert({kFamilies + "family.hpp", kFamilies + "family.cpp"});
    return paths;
  }
  if (const Family* family = family_named(name))
    return files_of_family(name, std::string(family->room), family->header());
  if (exists(name)) return with_included({name});
  return {};
}

std::optional<std::string> Sources::digest(const std::string& name) {
  const auto [found, added] = digests_.try_emplace(name);
  if (!added) return found->second;
  const Paths paths = files(name);
  if (paths.empty()) return std::nullopt;
  std::set<std::string_view> texts;  // in their own order, so that a file that only moves changes nothing
  for (const std::string& path : paths) texts.insert(file(path).bare);
  Digester digester;
  for (const std::string_view text : texts) digester.add(text);
  constexpr size_t kDigits = 16;
  return found->second = digester.finish().hex().substr(0, kDigits);
}

Digests Sources::digests(const std::set<std::string>& names) {
  Digests digests;
  for (const std::string& name : names)
    if (auto found = digest(name)) digests.emplace(name, std::move(*found));
  return digests;
}

}  // namespace hstujit::gpu_record
