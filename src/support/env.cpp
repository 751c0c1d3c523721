#include "support/env.hpp"

#include <cstdlib>

namespace hstujit {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// HSTUJIT_STORE set but empty means "no store", as hstu_context_options::store_path does.
std::string default_store() {
  if (const char* asked = std::getenv("HSTUJIT_STORE")) return asked;
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty() && cache[0] == '/')
    return cache + "/hstujit";
  if (const std::string home = variable("HOME"); !home.empty() && home[0] == '/') return home + "/.cache/hstujit";
  return "";
}

}  // namespace

Environment Environment::read() {
  Environment env;
  env.libcuda = variable("HSTUJIT_LIBCUDA");
  env.libnvrtc = variable("HSTUJIT_LIBNVRTC");
  env.store = default_store();
  env.store_by_default = std::getenv("HSTUJIT_STORE") == nullptr;
  env.system_store = variable("HSTUJIT_SYSTEM_STORE");
  env.kernels = variable("HSTUJIT_KERNELS");
  env.log_level = variable("HSTUJIT_LOG");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string home = variable(name); !home.empty()) env.cuda_homes.push_back(std::move(home));
  env.nvrtc_flags = variable("NVRTC_APPEND_FLAGS");
  env.library_path = variable("LD_LIBRARY_PATH");
  return env;
}

}  // namespace hstujit
