// Which compiler this machine has, remembered in the store, so that a warm start knows the whole key of its kernels
// without loading NVRTC.
#pragma once

#include <optional>
#include <string>

namespace hstujit {

class CompilerMemo {
 public:
  /// `folder` lies in a store; nvrtc_path as JitOptions has it.
  CompilerMemo(const std::string& folder, const std::string& nvrtc_path);

  /// Identity of the NVRTC that was found last time, if that file is still the same and the search for it would still
  /// go the same way. Nothing otherwise.
  std::optional<std::string> recall() const;

  /// After loading: the file that was found and its identity. 0, or errno.
  int remember(const std::string& library_path, const std::string& identity) const;

 private:
  std::string file_;
};

}  // namespace hstujit
