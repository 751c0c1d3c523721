// Where things lie: the rooms of src/ in their order, which no include goes against.
#include "specialise/kernel_sources.hpp"
#include "support/files.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

/// Each may include what stands before it.
constexpr std::string_view kRooms[] = {"support", "cuda",  "operators", "families", "specialise", "jit", "records",
                                       "launch",  "tuner", "traffic",   "call",     "chain",      "capi"};

std::ptrdiff_t rank_of(std::string_view path) {
  return std::ranges::find(kRooms, path.substr(0, path.find('/'))) - std::begin(kRooms);
}

struct Include {
  fs::path by;
  std::string name;  ///< of a file of src/
};

std::vector<Include> includes_of_the_library() {
  const fs::path root = test::source_dir() / "src";
  std::vector<Include> all;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path path = fs::relative(entry.path(), root);
    if (!entry.is_regular_file() || !path.has_parent_path()) continue;
    std::string text;
    EXPECT_EQ(read_file(entry.path(), text), 0) << path;
    for (const std::string& name : included_names(text))
      if (fs::exists(root / name)) all.push_back({path, name});
  }
  return all;
}

TEST(House, HasTheRoomsOfThisList) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(test::source_dir() / "src"))
    if (entry.is_directory()) found.insert(entry.path().filename().string());
  EXPECT_EQ(found, std::set<std::string>(std::begin(kRooms), std::end(kRooms)));
}

TEST(House, HasNoIncludeThatGoesUp) {
  const std::vector<Include> all = includes_of_the_library();
  EXPECT_GT(all.size(), 500u);
  for (const Include& include : all)
    EXPECT_LE(rank_of(include.name), rank_of(include.by.string())) << include.by << " includes " << include.name;
}

TEST(House, HasNoCircleOfIncludes) {
  std::map<std::string, std::set<std::string>> left;
  for (const Include& include : includes_of_the_library()) left[include.by.string()].insert(include.name);
  // Files that include nothing that is left go, until none does.
  for (bool gone = true; gone;) {
    gone = false;
    for (auto& [path, names] : left)
      std::erase_if(names, [&](const std::string& name) { return !left.contains(name); });
    gone = std::erase_if(left, [](const auto& file) { return file.second.empty(); }) > 0;
  }
  for (const auto& [path, names] : left) ADD_FAILURE() << path << " is in a circle, or includes one";
}

}  // namespace
}  // namespace hstujit
