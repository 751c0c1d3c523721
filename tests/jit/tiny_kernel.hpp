// A kernel small enough to compile in 30 ms, in a folder of its own, and sources that ask for it.
#pragma once

#include "specialise/source.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hstujit::test {

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

class TinyKernels {
 public:
  TinyKernels() {
    write_file(dir_.path() / "prim/add.cuh",
               "#pragma once\ntemplate <class C> __device__ float add(float x) { return x + C::kValue; }\n");
    write_file(dir_.path() / "tiny.cuh",
               "#include \"prim/add.cuh\"\nnamespace hstu {\n"
               "template <class C> __global__ void tiny(float* x) { x[0] = add<C>(x[0]); }\n}\n");
  }

  std::string folder() const { return dir_.str(); }

  /// Value n gives the n-th of as many different kernels as a test needs.
  static Source source(int value, const std::string& target = "sm_80") {
    Source out;
    out.name = fmt::format("tiny {} value={}", target, value);
    out.header = "tiny.cuh";
    out.unit = fmt::format(
        "#include \"tiny.cuh\"\nnamespace hstu {{ struct Config {{ static constexpr int kValue = {}; }}; }}\n", value);
    out.entry = "hstu::tiny<hstu::Config>";
    out.target = target;
    out.options = {"--gpu-architecture=" + target, "--std=c++17", "--no-source-include", "--ptxas-options=-v"};
    return out;
  }

 private:
  TempDir dir_;
};

}  // namespace hstujit::test
