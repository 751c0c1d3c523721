// The sweep in a folder that others use, too: what is not ours stays, wherever it lies and whatever leads to it.
#include "jit/sweep.hpp"

#include "jit/adopt.hpp"
#include "jit/tiny_kernel.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

const std::string kUnit = "ab" + std::string(30, '1'), kEntry = kUnit + "-" + std::string(16, '2') + ".kernel";
const std::string kTemporary = ".tmp-12-0123456789abcdef";

class Sweep : public testing::Test {
 protected:
  Sweep() {
    limits_.files = 0;  // every entry is one too many
    limits_.sweep_every = std::chrono::seconds(0);
  }

  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }
  /// A file of the store, or beside it ("../elsewhere/x"), a month old.
  fs::path old_file(const std::string& name) const {
    const fs::path path = at("store/" + name);
    test::write_file(path, "something");
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * 30));
    return path;
  }
  int64_t sweep() const { return sweep_if_due(at("store"), limits_); }

  test::TempDir dir_;
  StoreLimits limits_;
};

TEST_F(Sweep, RemovesWhatIsOursAndOld) {
  const std::vector<fs::path> ours = {old_file("kernels/ab/" + kEntry),
                                      old_file("kernels/ab/" + kEntry + kTemporary),
                                      old_file("failed/" + kUnit + ".cu"),
                                      old_file("failed/" + kUnit + ".cu" + kTemporary),
                                      old_file("quarantine/" + kEntry + "-1700000000000000000"),
                                      old_file("compilers/" + kUnit + ".json" + kTemporary),
                                      old_file("winners.cache" + kTemporary)};
  EXPECT_EQ(sweep(), 1);
  for (const fs::path& path : ours) EXPECT_FALSE(fs::exists(path)) << path;
}

TEST_F(Sweep, LeavesWhatIsNot) {
  const std::vector<fs::path> theirs = {old_file("kernels/ab/notes.txt"),
                                        old_file("kernels/ab/other.kernel"),
                                        old_file("kernels/ab/notes.tmp-1-2"),
                                        old_file("kernels/ab/deeper/" + kEntry),
                                        old_file("kernels/project.tmp-1/" + kEntry),
                                        old_file("kernels/" + kEntry),
                                        old_file("failed/thesis.tex"),
                                        old_file("failed/ab/" + kUnit + ".cu"),
                                        old_file("quarantine/letter-1"),
                                        old_file("quarantine/ab/" + kEntry + "-1"),
                                        old_file("compilers/" + kUnit + ".json"),
                                        old_file("winners.cache"),
                                        old_file("mine" + kTemporary),
                                        old_file("shard-0-of-2/failed/" + kUnit + ".cu")};
  EXPECT_EQ(sweep(), 0);
  for (const fs::path& path : theirs) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(Sweep, WorksInAStoreWhosePathHoldsATemporarysMark) {
  const std::string store = at("store.tmp-12-0123456789abcdef");
  test::write_file(store + "/kernels/ab/" + kEntry, "kernel");
  limits_.files = 10;
  fs::last_write_time(store + "/kernels/ab/" + kEntry, fs::file_time_type::clock::now() - std::chrono::hours(2));
  sweep_if_due(store, limits_);
  EXPECT_TRUE(fs::exists(store + "/kernels/ab/" + kEntry));
}

TEST_F(Sweep, FollowsNoLinks) {
  const std::vector<fs::path> theirs = {old_file("../elsewhere/ab/" + kEntry), old_file("../elsewhere/" + kEntry),
                                        old_file("../elsewhere/" + kUnit + ".cu"),
                                        old_file("../elsewhere/" + kEntry + "-1")};
  const std::string elsewhere = at("elsewhere");
  for (const char* folder : {"failed", "quarantine", "compilers"})
    fs::create_directory_symlink(elsewhere, at("store") + "/" + folder);
  fs::create_directories(at("store/kernels"));
  fs::create_directory_symlink(elsewhere, at("store/kernels/ab"));
  EXPECT_EQ(sweep(), 0);
  fs::remove(at("store/kernels/ab"));
  fs::create_directory(at("store/kernels/ab"));
  fs::create_symlink(elsewhere + "/" + kEntry, at("store/kernels/ab/" + kEntry));
  EXPECT_EQ(sweep(), 0) << "a file's link";
  fs::remove_all(at("store/kernels"));
  fs::create_directory_symlink(elsewhere, at("store/kernels"));
  EXPECT_EQ(sweep(), 0) << "the kernels' folder";
  for (const fs::path& path : theirs) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(Sweep, ItsStampIsNoLinkEither) {
  const fs::path theirs = old_file("../elsewhere/file"), entry = old_file("kernels/ab/" + kEntry);
  const auto before = fs::last_write_time(theirs);
  fs::create_symlink(theirs, at("store/last-sweep"));
  EXPECT_EQ(sweep(), 1) << "a link in its place is replaced";
  EXPECT_EQ(fs::last_write_time(theirs), before);
  EXPECT_FALSE(fs::is_symlink(at("store/last-sweep")));
}

TEST_F(Sweep, ADamagedEntryBehindALinkIsNotSetAside) {
  const KernelKey key(test::TinyKernels::source(1), Digest{1, 2});
  CompiledKernel kernel;
  kernel.compiler = "NVRTC";
  DiskStore store(at("store"), DiskStore::Access::read_write);
  store.publish(key, kernel);
  const fs::path shard = fs::directory_iterator(at("store/kernels"))->path();
  const fs::path entry = fs::directory_iterator(shard)->path();
  fs::resize_file(entry, 10);
  fs::rename(shard, at("elsewhere"));
  fs::create_directory_symlink(at("elsewhere"), shard);
  EXPECT_FALSE(store.load(key, "NVRTC"));
  EXPECT_EQ(store.damaged(), 1);
  EXPECT_TRUE(fs::exists(at("elsewhere") / entry.filename()));
  EXPECT_FALSE(fs::exists(at("store/quarantine")) && !fs::is_empty(at("store/quarantine")));

  fs::remove(shard);
  fs::rename(at("elsewhere"), shard);
  fs::create_directory(at("elsewhere"));
  fs::create_directory_symlink(at("elsewhere"), at("store/quarantine"));
  EXPECT_FALSE(store.load(key, "NVRTC"));
  EXPECT_TRUE(fs::is_empty(at("elsewhere"))) << "nor to where a link leads";
}

TEST_F(Sweep, AnotherStoresEntriesAreTakenOverAndNothingElse) {
  test::write_file(at("store/kernels/ab/" + kEntry), "entry");
  test::write_file(at("store/kernels/ab/other.kernel"), "no entry");
  test::write_file(at("store/kernels/ab/deep/" + kEntry), "elsewhere");
  test::write_file(at("secret"), "secret");
  const std::string linked = "ab" + std::string(30, '3') + kEntry.substr(32);
  fs::create_symlink(at("secret"), at("store/kernels/ab/" + linked));
  const AdoptedKernels first = adopt_kernels(at("store"), at("ours")), again = adopt_kernels(at("store"), at("ours"));
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(first.lost, 0);
  EXPECT_EQ(again.count, 0);
  EXPECT_EQ(again.lost, 0);
  std::string text;
  ASSERT_EQ(read_file(at("ours/kernels/ab/" + kEntry), text), 0);
  EXPECT_EQ(text, "entry");
  EXPECT_EQ(std::distance(fs::directory_iterator(at("ours/kernels/ab")), fs::directory_iterator()), 1);
  test::write_file(at("file"), "no folder");
  const AdoptedKernels lost = adopt_kernels(at("store"), at("file"));
  EXPECT_EQ(lost.lost, 1);
  EXPECT_EQ(lost.error, ENOTDIR);
}

}  // namespace
}  // namespace hstujit
