// Every environment variable the library looks at, in one struct and read in one place: by a context when it is
// created, and when the driver or NVRTC is opened. Never on a call's way.
#pragma once

#include <string>
#include <vector>

namespace hstujit {

struct Environment {
  std::string libcuda;            ///< HSTUJIT_LIBCUDA: the driver library to open; "" for libcuda.so.1
  std::string libnvrtc;           ///< HSTUJIT_LIBNVRTC: the NVRTC library to open; "" for the usual names
  std::string store;              ///< HSTUJIT_STORE, else XDG_CACHE_HOME/hstujit, else HOME/.cache/hstujit; "" for none
  bool store_by_default = false;  ///< it comes from XDG_CACHE_HOME or HOME
  std::string system_store;       ///< HSTUJIT_SYSTEM_STORE: read-only store underneath; "" for none
  std::string kernels;    ///< HSTUJIT_KERNELS: folder of kernel sources instead of the embedded ones; "" for embedded
  std::string log_level;  ///< HSTUJIT_LOG: trace, debug, info, warn, error; "" for off
  std::vector<std::string> cuda_homes;  ///< CUDA_HOME, CUDA_PATH where set: toolkits to look for NVRTC in
  std::string nvrtc_flags;              ///< NVRTC_APPEND_FLAGS: options that NVRTC adds by itself
  std::string library_path;             ///< LD_LIBRARY_PATH: decides which NVRTC a name means

  /// The variables as they are now.
  static Environment read();
};

}  // namespace hstujit
