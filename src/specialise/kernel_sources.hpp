// The text of the kernels: what the build embedded, or a folder of the same layout while working on them.
#pragma once

#include "support/hash.hpp"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

/// A header with all it includes, directly or not; the digest changes with any of them and with nothing else.
struct SourceClosure {
  /// As NVRTC takes them; whoever made the closure keeps the texts.
  struct File {
    const char* name;  ///< as #include spells it: "prim/mma.cuh"
    const char* text;
  };
  std::vector<File> files;  ///< by name
  Digest digest;
};

class KernelSources {
 public:
  /// folder "": the embedded files. Files are read when first asked for and kept, so one object never mixes versions.
  explicit KernelSources(std::string folder = "");

  /// Thread-safe; the reference stays valid as long as the object. Throws Error naming a header that is missing.
  const SourceClosure& closure(std::string_view header);

 private:
  struct Known {
    std::string name;
    std::string_view text;  ///< a 0 follows it
    Digest digest;
    std::vector<std::string> includes;
  };
  std::string_view text_of(const std::string& name, std::string_view included_by);
  const Known& file_named(const std::string& name, std::string_view included_by);

  std::string folder_;
  std::mutex mutex_;
  std::deque<std::string> read_;  ///< texts of the folder; those that are embedded are not copied
  std::map<std::string, Known, std::less<>> files_;
  std::map<std::string, SourceClosure, std::less<>> closures_;
};

/// Names in #include "..." lines, in order. <...> is no business of kernels: they compile without an include path.
std::vector<std::string> included_names(std::string_view text);

}  // namespace hstujit
