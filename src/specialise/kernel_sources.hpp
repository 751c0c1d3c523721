// The text of the kernels: what the build embedded, or a folder of the same layout while working on them.
#pragma once

#include "support/hash.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

/// A header with all it includes, directly or not; the digest changes with any of them and with nothing else.
struct SourceClosure {
  struct File {
    std::string name;  ///< as #include spells it: "prim/mma.cuh"
    std::string text;
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
  const std::string& text_of(const std::string& name, std::string_view included_by);

  std::string folder_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, SourceClosure, std::less<>> closures_;
};

/// Names in #include "..." lines, in order. <...> is no business of kernels: they compile without an include path.
std::vector<std::string> included_names(std::string_view text);

}  // namespace hstujit
