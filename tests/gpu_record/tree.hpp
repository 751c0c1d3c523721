// A copy of the sources that a GPU record belongs to, for tests that change them.
#pragma once

#include "support/files.hpp"
#include "support/source_dir.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace hstujit::gpu_record {

class Tree {
 public:
  Tree() {
    namespace fs = std::filesystem;
    for (const char* folder :
         {"kernels", "src/families", "src/launch", "src/specialise", "tests/kernels", "tools/workloads"}) {
      fs::create_directories(path() / folder);
      fs::copy(test::source_dir() / folder, path() / folder, fs::copy_options::recursive);
    }
  }

  std::filesystem::path path() const { return dir_.path() / "tree"; }
  std::string read(const std::string& file) const {
    std::string text;
    EXPECT_EQ(read_file(path() / file, text), 0) << file;
    return text;
  }
  void write(const std::string& file, const std::string& text) const {
    EXPECT_EQ(publish_file((path() / file).string(), text), 0) << file;
  }
  /// Puts text in front of a file's own.
  void prepend(const std::string& file, const std::string& text) const { write(file, text + read(file)); }
  void append(const std::string& file, const std::string& text) const { write(file, read(file) + text); }

 private:
  const test::TempDir dir_;
};

}  // namespace hstujit::gpu_record
