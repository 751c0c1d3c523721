// The recordings in spaces/: their names, and what they hold.
#pragma once

#include "support/source_dir.hpp"
#include "tuner/recorded_text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace hstujit::test {

inline std::vector<std::string> recordings() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "tests/tuner/spaces"))
    if (entry.path().extension() == ".zst") names.push_back(entry.path().stem().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline NamedSpace read_recording(const std::string& name) {
  std::ifstream in(source_dir() / "tests/tuner/spaces" / (name + ".space.zst"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return space_of_bytes(bytes);
}

}  // namespace hstujit::test
