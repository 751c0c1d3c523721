// docs/adding_an_operator.md tells which files a new operator touches, by a sample. Its tables are compared with the
// tree: what they list exists and names the sample, and no other file of the library does.
#include "support/files.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "docs/adding_an_operator.md";

/// The sample's names: operator, C symbols, kernel family, key fields, parameters.
constexpr std::array<std::string_view, 8> kNames = {
    "jagged_reduce_sum",      "hstu_jagged_reduce_sum", "hstu_jagged_reduce_sum_args",
    "jagged_reduce_sum_sm80", "JaggedReduceSumSm80",    "kJaggedReduceSumSm80",
    "jagged_reduce",          "JaggedReduceParams"};

std::string read(const fs::path& path) {
  std::string text;
  EXPECT_EQ(read_file((test::source_dir() / path).string(), text), 0) << path;
  return text;
}

bool in_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !in_a_word(text[at - 1])) && (end == text.size() || !in_a_word(text[end]))) return true;
  }
  return false;
}

bool names_the_sample(const fs::path& path) {
  const std::string text = read(path);
  return std::ranges::any_of(kNames, [&](std::string_view name) { return has_word(text, name); });
}

/// The files in the first column of the table below this heading.
std::set<std::string> listed(const std::string& page, std::string_view heading) {
  const size_t begin = page.find(heading);
  EXPECT_NE(begin, page.npos) << heading;
  const std::string section = page.substr(begin, page.find("\n## ", begin) - begin);
  std::set<std::string> files;
  constexpr std::string_view kCell = "\n| `";
  for (size_t at = section.find(kCell); at != section.npos; at = section.find(kCell, at + 1)) {
    const size_t first = at + kCell.size();
    files.insert(section.substr(first, section.find('`', first) - first));
  }
  return files;
}

std::set<std::string> files_of_the_library_that_name_it() {
  std::set<std::string> files;
  for (const char* folder : {"include", "src", "kernels"})
    for (const auto& entry : fs::recursive_directory_iterator(test::source_dir() / folder)) {
      const fs::path path = fs::relative(entry.path(), test::source_dir());
      if (entry.is_regular_file() && names_the_sample(path)) files.insert(path.string());
    }
  return files;
}

TEST(AddingAnOperator, ListsTheFilesOfTheLibraryThatNameTheSampleAndNoOther) {
  EXPECT_EQ(listed(read(kPage), "## What makes it work"), files_of_the_library_that_name_it());
}

TEST(AddingAnOperator, ListsFilesOfTestsThatNameTheSample) {
  const std::set<std::string> files = listed(read(kPage), "## What the tests ask for");
  EXPECT_GT(files.size(), 5u);
  for (const std::string& file : files) {
    ASSERT_TRUE(fs::exists(test::source_dir() / file)) << file;
    EXPECT_TRUE(names_the_sample(file)) << file;
  }
}

}  // namespace
}  // namespace hstujit
