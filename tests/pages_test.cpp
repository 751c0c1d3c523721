// The pages that people read: what they link to is there, and so are the pages that kernels name.
#include "support/files.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::string text;
  EXPECT_EQ(read_file(path.string(), text), 0) << path;
  return text;
}

/// The pages at the top and those of docs/.
std::vector<fs::path> pages() {
  std::vector<fs::path> all;
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  };
  for (const auto& entry : fs::directory_iterator(test::source_dir())) add(entry);
  for (const auto& entry : fs::recursive_directory_iterator(test::source_dir() / "docs")) add(entry);
  return all;
}

/// What stands between `before` and the first of `ends`, wherever it does.
std::vector<std::string> all_between(const std::string& text, std::string_view before, std::string_view ends) {
  std::vector<std::string> found;
  for (size_t at = text.find(before); at != text.npos; at = text.find(before, at + 1)) {
    const size_t begin = at + before.size();
    found.push_back(text.substr(begin, text.find_first_of(ends, begin) - begin));
  }
  return found;
}

TEST(Pages, LinkToWhatIsThere) {
  size_t links = 0;
  for (const fs::path& page : pages())
    for (const std::string& link : all_between(read(page), "](", "#)")) {
      if (link.empty() || link.starts_with("http")) continue;
      EXPECT_TRUE(fs::exists(page.parent_path() / link)) << page << ": " << link;
      ++links;
    }
  EXPECT_GT(links, 30u);
}

TEST(Pages, ThatKernelsNameAreThere) {
  size_t named = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_dir() / "kernels")) {
    if (!entry.is_regular_file()) continue;
    for (const std::string& name : all_between(read(entry.path()), "docs/experiments/", ". ,;)\n")) {
      EXPECT_TRUE(fs::exists(test::source_dir() / "docs/experiments" / (name + ".md"))) << entry.path() << ": " << name;
      ++named;
    }
  }
  EXPECT_GT(named, 10u);
}

TEST(Pages, TheReadmeIsShort) {
  const std::string text = read(test::source_dir() / "README.md");
  EXPECT_LE(std::ranges::count(text, '\n'), 150);
}

}  // namespace
}  // namespace hstujit
