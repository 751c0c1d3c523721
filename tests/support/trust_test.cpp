// Paths that somebody else could have written to are told of, left out or refused; those of containers and users are
// not.
#include "support/trust.hpp"

#include "support/captured_log.hpp"
#include "support/error.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

class Trust : public testing::Test {
 protected:
  std::string folder(const char* name, mode_t mode) {
    const std::string path = dir_.str() + "/" + name;
    fs::create_directories(path);
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  /// As trusted(), and that it says so when it doubts: once.
  std::string used(const std::string& path, Named named) {
    test::CapturedLog log;
    const std::string out = trusted(path, named, false);
    EXPECT_EQ(log.lines(), doubt_about(path).empty() ? 0 : 1) << log.str();
    return out;
  }
  void expect_doubted(const std::string& path, const char* why) {
    EXPECT_NE(doubt_about(path).find(why), std::string::npos) << path << ": " << doubt_about(path);
    EXPECT_EQ(used(path, Named::by_host), path);
    EXPECT_EQ(used(path, Named::by_default), "");
    for (const Named named : {Named::by_host, Named::by_default}) try {
        trusted(path, named, true);
        ADD_FAILURE() << path;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), HSTU_ERROR_STORE);
        EXPECT_NE(error.message().find("strict_store"), std::string::npos);
      }
  }
  void expect_trusted(const std::string& path) {
    EXPECT_EQ(doubt_about(path), "");
    for (const Named named : {Named::by_host, Named::by_default}) EXPECT_EQ(used(path, named), path);
    EXPECT_EQ(trusted(path, Named::by_host, true), path);
  }

  test::TempDir dir_;
};

TEST_F(Trust, OwnFoldersAreTrustedWhateverTheirGroupMayDo) {
  for (const mode_t mode : {0700, 0755, 0770, 0775}) expect_trusted(folder("own", mode));
  expect_trusted("");
}

TEST_F(Trust, AFolderThatEverybodyMayWriteToIsNot) {
  expect_doubted(folder("open", 0777), "everybody may write");
  expect_doubted(folder("sticky", 01777), "everybody may write");  // others can leave files there
}

TEST_F(Trust, WhatIsBelowSuchAFolderIsTrustedIfItIsSticky) {
  folder("open", 0777);
  expect_doubted(folder("open/store", 0700), "everybody may exchange");
  expect_doubted(dir_.str() + "/open/absent/store", "everybody may exchange");
  folder("sticky", 01777);
  expect_trusted(folder("sticky/store", 0700));
}

TEST_F(Trust, APackIsAsItsFile) {
  const std::string pack = dir_.str() + "/pack";
  std::ofstream(pack) << "x";
  ASSERT_EQ(chmod(pack.c_str(), 0644), 0);
  EXPECT_EQ(doubt_about(pack), "");
  ASSERT_EQ(chmod(pack.c_str(), 0666), 0);
  EXPECT_NE(doubt_about(pack), "");
}

TEST_F(Trust, LinksAreFollowed) {
  const std::string open = folder("open", 0777), link = dir_.str() + "/link";
  fs::create_directory_symlink(open, link);
  expect_doubted(link, "everybody may write");
  expect_doubted(link + "/below", "everybody may exchange");
}

TEST_F(Trust, AnotherUsersFolderIsNotAndRootsIs) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  const std::string store = folder("theirs", 0755);
  ASSERT_EQ(chown(store.c_str(), 12345, 12345), 0);
  expect_doubted(store, "another user (12345)");
  expect_doubted(store + "/absent", "another user (12345)");
  // A container's volume: root's, and its group may write. Seen by a user that is not root.
  const std::string volume = folder("volume", 0775);
  ASSERT_EQ(chmod(dir_.str().c_str(), 0755), 0);
  ASSERT_EQ(seteuid(65534), 0);
  EXPECT_EQ(doubt_about(volume), "");
  ASSERT_EQ(seteuid(0), 0);
}

TEST_F(Trust, AFolderByDefaultIsMadeForItsUserAlone) {
  const std::string store = dir_.str() + "/cache/hstujit";
  EXPECT_EQ(used(store, Named::by_host), store);
  EXPECT_FALSE(fs::exists(store));
  const mode_t before = umask(0);
  EXPECT_EQ(used(store, Named::by_default), store);
  umask(before);
  for (const std::string& path : {store, dir_.str() + "/cache"})
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all) << path;
}

}  // namespace
}  // namespace hstujit
