// What is done in a folder stays in it.
#include "support/folder.hpp"

#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

class FolderTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }
  test::TempDir dir_;
};

TEST_F(FolderTest, ListsStampsRenamesAndRemoves) {
  ASSERT_EQ(publish_file(at("inner/a"), "12345"), 0);
  ASSERT_EQ(publish_file(at("b"), "1"), 0);
  const Folder folder(dir_.str());
  ASSERT_TRUE(folder);
  std::vector<std::string> names = folder.names();
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "inner"}));
  EXPECT_EQ(folder.names().size(), 2u) << "and once more";
  FileStamp stamp;
  const Folder inner = folder.inside("inner");
  ASSERT_EQ(inner.stamp_of("a", stamp), 0);
  EXPECT_EQ(stamp.size, 5);
  EXPECT_EQ(inner.rename("a", folder.made_inside("other"), "c"), 0);
  EXPECT_TRUE(fs::exists(at("other/c")));
  EXPECT_EQ(folder.link("b", inner), 0);
  EXPECT_EQ(folder.link("b", inner), EEXIST);
  EXPECT_EQ(folder.remove("b"), 0);
  EXPECT_TRUE(fs::exists(at("inner/b")));
  EXPECT_EQ(folder.remove("b"), ENOENT);
}

TEST_F(FolderTest, FollowsNoLink) {
  ASSERT_EQ(publish_file(at("elsewhere/file"), "1"), 0);
  fs::create_directory(at("store"));
  fs::create_directory_symlink(at("elsewhere"), at("store/folder"));
  fs::create_symlink(at("elsewhere/file"), at("store/file"));
  const Folder store(at("store"));
  FileStamp stamp;
  EXPECT_EQ(store.stamp_of("file", stamp), EINVAL);
  EXPECT_FALSE(store.inside("folder"));
  EXPECT_FALSE(store.made_inside("folder"));
  EXPECT_FALSE(store.inside("file"));
  EXPECT_EQ(store.inside("folder").remove("file"), EBADF);
  EXPECT_TRUE(store.inside("folder").names().empty());
  EXPECT_EQ(store.remove("file"), 0);
  EXPECT_TRUE(fs::exists(at("elsewhere/file"))) << "the link went, not what it led to";
  EXPECT_TRUE(Folder(at("store/folder"))) << "but the host may name its folder by a link";
}

TEST_F(FolderTest, SaysWhyItIsNone) {
  EXPECT_EQ(Folder(at("nothing")).error(), ENOENT);
  ASSERT_EQ(publish_file(at("file"), "1"), 0);
  EXPECT_EQ(Folder(at("file")).error(), ENOTDIR);
  EXPECT_EQ(Folder(dir_.str()).error(), 0);
}

}  // namespace
}  // namespace hstujit
