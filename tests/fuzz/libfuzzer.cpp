// One parser under libFuzzer. Its target is named by HSTUJIT_FUZZ_TARGET; HSTUJIT_FUZZ_EXAMPLES=FOLDER writes the sound
// examples there first, as a corpus to start from.
#include "fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

using hstujit::fuzz::Target;

const Target& target() {
  static const Target& only = [&]() -> const Target& {
    const char* const name = std::getenv("HSTUJIT_FUZZ_TARGET");
    const Target* const found = name ? hstujit::fuzz::target_named(name) : nullptr;
    if (found) return *found;
    std::fprintf(stderr, "HSTUJIT_FUZZ_TARGET: use one of");
    for (const Target& each : hstujit::fuzz::targets()) std::fprintf(stderr, " %s", each.name);
    std::fprintf(stderr, "\n");
    std::exit(2);
  }();
  return only;
}

}  // namespace

extern "C" {

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

int LLVMFuzzerInitialize(int*, char***) {
  if (const char* const folder = std::getenv("HSTUJIT_FUZZ_EXAMPLES")) {
    int count = 0;
    for (const std::string& example : target().examples())
      std::ofstream(std::string(folder) + "/example-" + std::to_string(count++), std::ios::binary) << example;
  }
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned) {
  size = LLVMFuzzerMutate(data, size, most);
  if (!target().seal) return size;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  target().seal(bytes);
  bytes.copy(reinterpret_cast<char*>(data), size);
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hstujit::fuzz::survives(target(), std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

}  // extern "C"
