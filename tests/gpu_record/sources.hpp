// What a figure or a test depends on, as digests of the sources that lie in a tree: of a kernel family, of the host's
// way to a kernel, and of device code that tests bring along.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace hstujit::gpu_record {

/// The host code that makes and launches kernels of all families alike.
constexpr std::string_view kLaunching = "launching";

/// Digests by the names of what they are of.
using Digests = std::map<std::string, std::string>;

class Sources {
 public:
  /// root: of the repository, or of a copy of its kernels/, src/ and tests/kernels/.
  explicit Sources(std::filesystem::path root);

  /// Of a family: its kernel with all that it includes, and the files of src/families/ that describe it. Of kLaunching:
  /// src/launch/, src/specialise/ and what a family is; not which there are, and which of them is chosen. Of a path
  /// below the root: that file with all that it includes. Comments, line breaks and where a file lies make no
  /// difference. Nothing when there is no such thing.
  std::optional<std::string> digest(const std::string& name);
  /// The files that the digest is over, relative to the root.
  std::set<std::string> files(const std::string& name);
  /// The names that exist, with their digests.
  Digests digests(const std::set<std::string>& names);

  const std::filesystem::path& root() const { return root_; }
  /// Of a file below the root. Throws Error{INVALID_ARGUMENT} when it cannot be read.
  const std::string& text(const std::string& path) { return file(path).text; }

 private:
  using Paths = std::set<std::string>;  ///< relative to the root
  struct File {
    std::string text, bare;
  };
  const File& file(const std::string& path);
  bool exists(const std::string& path) const;
  /// What is written in C++ in the folder itself.
  const Paths& code_in(const std::string& folder);
  /// The files that an #include "name" in a file of this path brings in.
  const Paths& included(const std::string& name, const std::string& by);
  Paths code_of(const std::string& header);
  Paths with_included(Paths paths);
  Paths files_of_family(const std::string& name, const std::string& room, const std::string& header);

  std::filesystem::path root_;
  std::map<std::string, File> files_;
  std::map<std::string, Paths> code_;
  std::map<std::pair<std::string, std::string>, Paths> included_;  ///< by name and the folder of the file
  std::map<std::string, std::optional<std::string>> digests_;
};

}  // namespace hstujit::gpu_record
