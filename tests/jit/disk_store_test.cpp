// The store as a folder that anything can happen to: damage, read-only and full disks, I/O errors, eviction.
#include "jit/disk_store.hpp"

#include "jit/entry.hpp"
#include "jit/tiny_kernel.hpp"
#include "support/captured_log.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/storm.hpp"
#include "support/unkept.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

namespace hstujit {
namespace {

namespace fs = std::filesystem;
using Access = DiskStore::Access;

constexpr const char* kCompiler = "NVRTC 13.0 abc";

KernelKey key_of(int value) { return {test::TinyKernels::source(value), Digest{1, 2}}; }

CompiledKernel kernel_of(int value, const std::string& compiler = kCompiler) {
  CompiledKernel kernel;
  kernel.name = fmt::format("tiny {}", value);
  kernel.binary = fmt::format("binary of {}", value);
  kernel.compiler = compiler;
  return kernel;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code none;
  for (fs::recursive_directory_iterator it(folder, none), end; !none && it != end; it.increment(none))
    if (!it->is_directory()) out.push_back(it->path());
  return out;
}

// Runs `body` in a child process that may not override permissions; its return value must be below 256.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(255);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

class DiskStoreTest : public testing::Test {
 protected:
  std::string folder() const { return dir_.str() + "/store"; }
  DiskStore open(StoreLimits limits = {}) const { return DiskStore(folder(), Access::read_write, limits); }
  fs::path entry_of(int value) const {
    for (const fs::path& path : files_in(folder() + "/kernels"))
      if (path.filename().string().starts_with(key_of(value).unit.hex())) return path;
    ADD_FAILURE() << "no entry of " << value;
    return {};
  }
  fs::path only_entry() const {
    const auto files = files_in(folder() + "/kernels");
    EXPECT_EQ(files.size(), 1u);
    return files.at(0);
  }
  size_t entries() const { return files_in(folder() + "/kernels").size(); }
  size_t quarantined() const { return files_in(folder() + "/quarantine").size(); }
  void flip(const fs::path& path, size_t at) const {
    std::string bytes;
    ASSERT_EQ(read_file(path.string(), bytes), 0);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    test::write_file(path, bytes);
  }

  test::TempDir dir_;
};

TEST_F(DiskStoreTest, GivesBackWhatWasPublished) {
  DiskStore store = open();
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  store.publish(key_of(1), kernel_of(1));
  ASSERT_TRUE(store.load(key_of(1), kCompiler));
  EXPECT_EQ(store.load(key_of(1), kCompiler)->binary, "binary of 1");
  EXPECT_EQ(open().load(key_of(1), kCompiler)->binary, "binary of 1");
  EXPECT_FALSE(store.load(key_of(2), kCompiler));
}

TEST_F(DiskStoreTest, KeepsTheKernelsOfTwoCompilersApart) {
  DiskStore store = open();
  store.publish(key_of(1), kernel_of(1, "NVRTC 12.8 old"));
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  ASSERT_TRUE(store.load_any(key_of(1)));
  store.publish(key_of(1), kernel_of(1, kCompiler));
  EXPECT_EQ(entries(), 2u);
  EXPECT_EQ(store.load(key_of(1), "NVRTC 12.8 old")->compiler, "NVRTC 12.8 old");
  EXPECT_EQ(store.load(key_of(1), kCompiler)->compiler, kCompiler);
  EXPECT_FALSE(store.load_any(key_of(2)));
}

TEST_F(DiskStoreTest, DamagedEntryIsSetAsideAndReplaced) {
  DiskStore store = open();
  for (size_t at : {0u, 9u, 13u, 17u, 25u, 33u, 41u, 49u, 57u, 70u, 400u}) {  // every header field, key text, payload
    store.publish(key_of(1), kernel_of(1));
    flip(only_entry(), at);
    EXPECT_FALSE(store.load(key_of(1), kCompiler)) << at;
    EXPECT_EQ(entries(), 0u) << at;
  }
  EXPECT_EQ(quarantined(), 11u);
  store.publish(key_of(1), kernel_of(1));
  EXPECT_TRUE(store.load(key_of(1), kCompiler));
}

TEST_F(DiskStoreTest, TruncatedEntryIsAMissAlsoForAnyCompiler) {
  DiskStore store = open();
  for (uintmax_t size : {0u, 1u, 63u, 64u, 200u}) {
    store.publish(key_of(1), kernel_of(1));
    fs::resize_file(only_entry(), size);
    EXPECT_FALSE(store.load_any(key_of(1))) << size;
  }
  EXPECT_EQ(quarantined(), 5u);
}

TEST_F(DiskStoreTest, EntryUnderTheWrongNameIsNeverTaken) {
  DiskStore store = open();
  store.publish(key_of(1), kernel_of(1));
  store.publish(key_of(2), kernel_of(2));
  fs::copy_file(entry_of(1), entry_of(2), fs::copy_options::overwrite_existing);
  EXPECT_FALSE(store.load(key_of(2), kCompiler));
  EXPECT_EQ(store.load(key_of(1), kCompiler)->binary, "binary of 1");
}

TEST_F(DiskStoreTest, ReadErrorIsAMissAndTouchesNothing) {
  DiskStore store = open();
  store.publish(key_of(1), kernel_of(1));
  const fs::path path = only_entry();
  fs::remove(path);
  fs::create_symlink("/proc/self/mem", path);  // reading it fails with EIO
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(quarantined(), 0u);
}

TEST_F(DiskStoreTest, ReadOnlyFolderIsReadAndRemembered) {
  fs::permissions(dir_.path(), fs::perms(0755));
  open().publish(key_of(1), kernel_of(1));
  for (const auto& each : fs::recursive_directory_iterator(folder()))
    fs::permissions(each.path(), each.is_directory() ? fs::perms(0555) : fs::perms(0444));
  fs::permissions(folder(), fs::perms(0555));
  const size_t before = files_in(folder()).size();
  EXPECT_EQ(in_child([&] {
              DiskStore store = open();
              if (!store.load(key_of(1), kCompiler)) return 1;
              store.publish(key_of(2), kernel_of(2));
              if (store.writable()) return 2;
              if (!store.save_failure(key_of(3), "unit").empty()) return 3;
              if (!store.load(key_of(1), kCompiler)) return 4;
              return 0;
            }),
            0);
  EXPECT_EQ(files_in(folder()).size(), before);
  fs::permissions(folder(), fs::perms(0755));
  for (const auto& each : fs::recursive_directory_iterator(folder()))
    if (each.is_directory()) fs::permissions(each.path(), fs::perms(0755));
}

TEST_F(DiskStoreTest, FolderThatCannotBeCreatedIsMemoryOnlyWithOneWarning) {
  test::write_file(dir_.path() / "file", "not a folder");
  test::CapturedLog log;
  DiskStore store(dir_.str() + "/file/store", Access::read_write);
  for (const int value : {1, 2, 3}) store.publish(key_of(value), kernel_of(value));
  EXPECT_FALSE(store.writable());
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  EXPECT_EQ(log.lines(), 1) << log.str();
  EXPECT_NE(log.str().find("kept in memory only"), std::string::npos) << log.str();
}

TEST_F(DiskStoreTest, FullDiskIsRememberedAndLeavesNoDebris) {
  CompiledKernel large = kernel_of(1);
  for (uint32_t i = 0, x = 1; i < 20'000; ++i) large.binary += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  fs::permissions(dir_.path(), fs::perms(0777));
  EXPECT_EQ(in_child([&] {
              const rlimit limit{8192, 8192};  // a write beyond it fails as on a full disk, but with a signal
              setrlimit(RLIMIT_FSIZE, &limit);
              DiskStore store = open();
              store.publish(key_of(1), large);
              return store.writable() ? 1 : 0;
            }),
            0);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(DiskStoreTest, WhatWasNotKeptIsCounted) {
  const Unkept before = unkept();
  DiskStore(folder(), Access::read_only).publish(key_of(1), kernel_of(1));
  open().publish(key_of(1), kernel_of(1));
  EXPECT_EQ(unkept().kernels, before.kernels) << "not asked to, and kept";
  test::write_file(dir_.path() / "file", "not a folder");
  DiskStore nowhere(dir_.str() + "/file/store", Access::read_write);
  for (const int value : {1, 2, 3}) nowhere.publish(key_of(value), kernel_of(value));
  EXPECT_EQ(unkept().kernels, before.kernels + 3);
  EXPECT_NE(unkept().reason, "");
}

TEST_F(DiskStoreTest, ReadOnlyAccessNeverWrites) {
  open().publish(key_of(1), kernel_of(1));
  flip(only_entry(), 70);
  const size_t before = files_in(folder()).size();
  DiskStore store(folder(), Access::read_only);
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  store.publish(key_of(2), kernel_of(2));
  EXPECT_EQ(store.save_failure(key_of(3), "unit"), "");
  EXPECT_EQ(files_in(folder()).size(), before);
}

TEST_F(DiskStoreTest, FailedUnitsAreKept) {
  DiskStore store = open();
  const std::string path = store.save_failure(key_of(1), "the unit");
  std::string text;
  ASSERT_EQ(read_file(path, text), 0);
  EXPECT_EQ(text, "the unit");
}

// ---- Eviction

TEST_F(DiskStoreTest, IsFiniteUnlessAskedOtherwise) {
  EXPECT_EQ(StoreLimits{}.bytes, int64_t{1} << 30);
  EXPECT_EQ(StoreLimits{}.files, 20'000);
}

void set_age(const fs::path& path, int hours) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST_F(DiskStoreTest, EvictsWhatWasNotUsedForLongest) {
  StoreLimits limits;
  limits.files = 10;
  limits.sweep_every = std::chrono::seconds(0);
  DiskStore store = open(limits);
  for (int value = 0; value < 10; ++value) {
    store.publish(key_of(value), kernel_of(value));
    set_age(entry_of(value), 100 - value);
  }
  ASSERT_TRUE(store.load(key_of(0), kCompiler));  // used again: youngest now
  test::CapturedLog log(LogLevel::info);
  store.publish(key_of(10), kernel_of(10));
  EXPECT_EQ(entries(), 9u);
  EXPECT_EQ(log.lines(), 1) << log.str();
  EXPECT_NE(log.str().find("evicted 2 kernels, kept 9"), std::string::npos) << log.str();
  EXPECT_TRUE(store.load(key_of(0), kCompiler));
  EXPECT_TRUE(store.load(key_of(10), kCompiler));
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  EXPECT_FALSE(store.load(key_of(2), kCompiler));
  EXPECT_TRUE(store.load(key_of(3), kCompiler));
}

TEST_F(DiskStoreTest, EvictsDownToTheByteLimit) {
  StoreLimits limits;
  limits.bytes = 4000;
  limits.sweep_every = std::chrono::seconds(0);
  DiskStore store = open(limits);
  for (int value = 0; value < 20; ++value) store.publish(key_of(value), kernel_of(value));
  uintmax_t bytes = 0;
  for (const fs::path& path : files_in(folder() + "/kernels")) bytes += fs::file_size(path);
  EXPECT_LE(bytes, 4000u);
  EXPECT_GT(bytes, 2000u);
}

TEST_F(DiskStoreTest, SweepsAtMostOncePerInterval) {
  StoreLimits limits;
  limits.files = 1;
  limits.sweep_every = std::chrono::hours(1);
  DiskStore store = open(limits);
  for (int value = 0; value < 5; ++value) store.publish(key_of(value), kernel_of(value));
  EXPECT_EQ(entries(), 5u);
  set_age(folder() + "/last-sweep", 2);
  store.publish(key_of(5), kernel_of(5));
  EXPECT_EQ(entries(), 0u);
  store.publish(key_of(6), kernel_of(6));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(DiskStoreTest, SweepsAndServesAfterTheClockWasSetBack) {
  StoreLimits limits;
  limits.files = 1;
  limits.sweep_every = std::chrono::hours(1);
  DiskStore store = open(limits);
  for (int value = 0; value < 5; ++value) store.publish(key_of(value), kernel_of(value));
  for (const auto& file : fs::recursive_directory_iterator(folder()))
    if (file.is_regular_file()) set_age(file.path(), -48);  // written by a clock two days ahead
  EXPECT_TRUE(store.load(key_of(3), kernel_of(3).compiler));
  store.publish(key_of(5), kernel_of(5));
  EXPECT_EQ(entries(), 0u) << "it was time to sweep, whatever the stamp says";
  store.publish(key_of(6), kernel_of(6));
  EXPECT_EQ(entries(), 1u) << "and not again at once";
}

TEST_F(DiskStoreTest, SweepRemovesDebrisOfKilledProcesses) {
  StoreLimits limits;
  limits.sweep_every = std::chrono::seconds(0);
  DiskStore store = open(limits);
  const std::string unit(32, 'a'), entry = unit + "-0123456789abcdef.kernel";
  const fs::path old_temporary = folder() + "/kernels/aa/" + entry + ".tmp-1-0123456789abcdef",
                 young = folder() + "/kernels/aa/" + entry + ".tmp-1-0123456789abcdee",
                 old_failure = folder() + "/failed/" + unit + ".cu";
  test::write_file(old_temporary, "half");
  test::write_file(young, "half");
  test::write_file(old_failure, "unit");
  set_age(old_temporary, 2);
  set_age(old_failure, 24 * 8);
  store.publish(key_of(1), kernel_of(1));
  EXPECT_FALSE(fs::exists(old_temporary));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(old_failure));
  EXPECT_TRUE(store.load(key_of(1), kCompiler));
}

// ---- Two versions of the library on one store

TEST_F(DiskStoreTest, ACompressedEntryOfAnOlderLibraryIsTaken) {
  DiskStore store = open();
  store.publish(key_of(1), kernel_of(1));
  test::write_file(only_entry(), encode_entry(key_of(1), kernel_of(1), Packing::zstd));
  const auto found = store.load(key_of(1), kCompiler);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->binary, kernel_of(1).binary);
}

TEST_F(DiskStoreTest, AnEntryOfAnotherFormatIsAMissAndNoDamage) {
  DiskStore store = open();
  store.publish(key_of(1), kernel_of(1));
  const fs::path path = only_entry();
  std::string bytes;
  ASSERT_EQ(read_file(path.string(), bytes), 0);
  bytes[8] = 3;  // the format, and the hash of a header of 64 bytes that ends with it
  const uint64_t hash = hash64(bytes.data(), 56);
  std::memcpy(bytes.data() + 56, &hash, sizeof hash);
  test::write_file(path, bytes);
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  EXPECT_FALSE(store.load_any(key_of(1)));
  EXPECT_EQ(store.damaged(), 0);
  EXPECT_EQ(quarantined(), 0u);
  std::string after;
  ASSERT_EQ(read_file(path.string(), after), 0);
  EXPECT_EQ(after, bytes) << "the other version finds it where it was";
  flip(path, 8);  // damage to the format is not another format
  EXPECT_FALSE(store.load(key_of(1), kCompiler));
  EXPECT_EQ(store.damaged(), 1);
}

// ---- Locks

TEST_F(DiskStoreTest, LockIsPerKeyAndEndsWithItsHolder) {
  DiskStore store = open();
  {
    KeyLock first = store.lock(key_of(1), kCompiler);
    EXPECT_EQ(first.try_acquire(), KeyLock::State::held);
    EXPECT_EQ(store.lock(key_of(1), kCompiler).try_acquire(), KeyLock::State::busy);
    EXPECT_EQ(store.lock(key_of(2), kCompiler).try_acquire(), KeyLock::State::held);
  }
  EXPECT_EQ(store.lock(key_of(1), kCompiler).try_acquire(), KeyLock::State::held);
}

TEST_F(DiskStoreTest, LockThatCannotBeHadIsSaidToBeUnavailable) {
  DiskStore nowhere("/proc/no/such/store", Access::read_write);
  EXPECT_EQ(nowhere.lock(key_of(1), kCompiler).try_acquire(), KeyLock::State::unavailable);
}

// ---- Crashes: children publish and are killed at a random moment; what remains is whole or absent.

constexpr int kStormKernels = 40;

// Shared with the children: which kernels some child was told are published.
struct Acknowledged {
  std::atomic<bool> published[kStormKernels];
};

CompiledKernel storm_kernel(int value) {
  CompiledKernel kernel = kernel_of(value);
  kernel.binary += std::string(static_cast<size_t>(value) * 997, static_cast<char>('a' + value % 26));
  return kernel;
}

[[noreturn]] void publish_until_killed(const std::string& folder, int seed, Acknowledged& acknowledged) {
  DiskStore store(folder, Access::read_write);
  for (int value = seed % kStormKernels;; value = (value + 7) % kStormKernels) {
    store.publish(key_of(value), storm_kernel(value));
    acknowledged.published[value] = true;
    const auto found = store.load(key_of(value), kCompiler);
    if (!found || found->binary != storm_kernel(value).binary) _exit(1);
  }
}

// Starts children, lets them work for a moment and kills them; how many ended by themselves, which means a wrong read.
int kill_round(const std::string& folder, int round, Acknowledged& acknowledged) {
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    children.push_back(fork());
    if (children.back() == 0) publish_until_killed(folder, round * 3 + child, acknowledged);
  }
  usleep(static_cast<useconds_t>(2000 + round % 50 * 300));
  int ended = 0;
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ended += WIFEXITED(status);
  }
  return ended;
}

TEST_F(DiskStoreTest, KillStormLosesNothingThatWasPublished) {
  void* shared = mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& acknowledged = *new (shared) Acknowledged{};
  const int rounds = test::storm_rounds(1000);
  for (int round = 0; round < rounds; ++round) EXPECT_EQ(kill_round(folder(), round, acknowledged), 0) << round;
  DiskStore store = open();
  int published = 0;
  for (int value = 0; value < kStormKernels; ++value) {
    const auto kernel = store.load(key_of(value), kCompiler);
    EXPECT_TRUE(kernel || !acknowledged.published[value]) << value;
    EXPECT_TRUE(!kernel || kernel->binary == storm_kernel(value).binary) << value;
    published += acknowledged.published[value];
  }
  std::printf("%d rounds of three processes killed: %d kernels published, none lost\n", rounds, published);
  EXPECT_GT(published, 0);
  EXPECT_EQ(quarantined(), 0u);
  EXPECT_EQ(store.lock(key_of(1), kCompiler).try_acquire(), KeyLock::State::held);
  munmap(shared, sizeof(Acknowledged));
}

}  // namespace
}  // namespace hstujit
