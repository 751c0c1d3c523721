// The compiler's part of the doctor: an NVRTC that opens may still lack its second library, or be too new for the
// driver.
#include "cuda/driver.hpp"
#include "cuda/nvrtc.hpp"
#include "hstu_tune/doctor.hpp"
#include "jit/compiler.hpp"
#include "specialise/kernel_sources.hpp"
#include "support/env.hpp"
#include "support/error.hpp"

#include <fmt/ranges.h>

#include <filesystem>

namespace hstujit::tool {
namespace {

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// Why the smallest of kernels does not compile; "" when it does.
std::string compile_problem(const Nvrtc& nvrtc) {
  const Source probe{"the doctor's kernel", "",      "template <class T> __global__ void probe(T* p) { *p = T(); }",
                     "probe<int>",          "sm_80", {"--gpu-architecture=sm_80"}};
  try {
    compile(nvrtc, probe, SourceClosure{});
    return "";
  } catch (const Error& error) { return error.message(); }
}

std::string mend_of_compiler(const Nvrtc& nvrtc, const std::string& problem) {
  const std::string version = version_text(nvrtc.version);
  if (problem.find("builtins") == std::string::npos)
    return fmt::format("install NVRTC again (apt-get install --reinstall cuda-nvrtc-{}-{})", nvrtc.version / 1000,
                       nvrtc.version % 1000 / 10);
  return fmt::format(
      "put libnvrtc-builtins.so.{} of the same toolkit beside it: ls {}/libnvrtc-builtins.so*; where it is elsewhere, "
      "export LD_LIBRARY_PATH=ITS_FOLDER; else apt-get install cuda-nvrtc-{}-{}, which has both",
      version, std::filesystem::path(nvrtc.library.path()).parent_path().string(), nvrtc.version / 1000,
      nvrtc.version % 1000 / 10);
}

/// Binaries of one major version run on every driver of it; PTX, for GPUs that NVRTC does not know, on none older.
void compare_with_driver(Findings& findings, const Nvrtc& nvrtc, const Driver& driver) {
  if (nvrtc.version <= driver.version) return;
  std::string ptx;
  for (const DeviceFacts& facts : devices())
    if (facts.target.starts_with("compute_")) ptx = facts.name;
  const bool same_major = nvrtc.version / 1000 == driver.version / 1000;
  const std::string newer = fmt::format("NVRTC {} is newer than the driver, which is of CUDA {}",
                                        version_text(nvrtc.version), version_text(driver.version));
  if (same_major && ptx.empty()) return findings.note("NVRTC", newer + ": its binaries run nevertheless");
  findings.missing(
      "NVRTC", newer + (same_major ? ": it cannot take the PTX that " + ptx + " needs" : ": it may refuse its kernels"),
      fmt::format("update the driver to CUDA {0} or newer; or use an older compiler: pip install "
                  "nvidia-cuda-nvrtc-cu{1}, then export HSTUJIT_LIBNVRTC=ITS_FOLDER/libnvrtc.so.{1}",
                  version_text(nvrtc.version), driver.version / 1000));
}

}  // namespace

void examine_compiler(Findings& findings, const Environment& environment) {
  const Nvrtc* nvrtc = nullptr;
  try {
    nvrtc = &nvrtc_at(environment.libnvrtc);
  } catch (const Error& error) {
    return findings.missing("NVRTC", error.message(),
                            "install it (apt-get install cuda-nvrtc-13-0, or pip install nvidia-cuda-nvrtc), or set "
                            "HSTUJIT_LIBNVRTC to its path; without it only stored kernels run");
  }
  const std::string found = fmt::format("{}, {}", nvrtc->identity, nvrtc->library.path());
  if (const std::string problem = compile_problem(*nvrtc); !problem.empty())
    return findings.missing("NVRTC", found + "\n" + problem, mend_of_compiler(*nvrtc, problem));
  findings.good("NVRTC", fmt::format("{}, compiles for {}", found, fmt::join(nvrtc->archs, " ")));
  if (has_gpu()) compare_with_driver(findings, *nvrtc, driver());
}

}  // namespace hstujit::tool
