// Whole-file reads and atomic publication.
#include "support/files.hpp"

#include "support/temp_dir.hpp"
#include "support/write_signals.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (dir_.path() / name).string(); }
  static std::string read(const std::string& path) {
    std::string out;
    EXPECT_EQ(read_file(path, out), 0);
    return out;
  }
  static size_t count(const std::string& folder) {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  test::TempDir dir_;
};

TEST_F(Files, PublishCreatesFoldersAndReplaces) {
  ASSERT_EQ(publish_file(at("a/b/c"), "one"), 0);
  EXPECT_EQ(read(at("a/b/c")), "one");
  ASSERT_EQ(publish_file(at("a/b/c"), std::string(100'000, 'x')), 0);
  EXPECT_EQ(read(at("a/b/c")), std::string(100'000, 'x'));
  EXPECT_EQ(count(at("a/b")), 1u);
}

TEST_F(Files, FailuresComeBackAsErrno) {
  std::string out;
  EXPECT_EQ(read_file(at("nothing"), out), ENOENT);
  EXPECT_EQ(read_file(dir_.str(), out), EINVAL);
  EXPECT_EQ(read_file("/proc/self/mem", out), EIO);
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(at("pipe"), out), EINVAL);
  ASSERT_EQ(publish_file(at("file"), "x"), 0);
  EXPECT_EQ(publish_file(at("file/below"), "x"), ENOTDIR);
}

TEST_F(Files, AFileTooLargeForTheLimitIsRefusedAndLeavesNothing) {
  ASSERT_EQ(make_folders(at("full")), 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{1000, 1000};  // SIGXFSZ, which comes with it, ends a process
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(publish_file(at("full/file"), std::string(5000, 'x')));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), EFBIG);
  EXPECT_EQ(count(at("full")), 0u);
}

TEST_F(Files, WritingToWhatNobodyReadsIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const Fd writing(ends[1]);
  EXPECT_EQ(write_all(writing.get(), "x"), EPIPE);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0) << "it was taken back, not put off";
}

volatile sig_atomic_t signals_seen = 0;

TEST_F(Files, WhatTheHostDoesAboutItsOwnSignalsStaysAsItIs) {
  struct sigaction count {
  }, before{};
  count.sa_handler = [](int) { signals_seen = signals_seen + 1; };
  sigaction(SIGPIPE, &count, &before);
  {
    const HeldWriteSignals outer;
    const HeldWriteSignals inner;
    raise(SIGPIPE);
  }
  EXPECT_EQ(signals_seen, 0);
  raise(SIGPIPE);
  EXPECT_EQ(signals_seen, 1) << "the mask is what it was";
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &own, nullptr);
  raise(SIGPIPE);  // the host's, and held by the host
  { const HeldWriteSignals held; }
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  EXPECT_EQ(signals_seen, 2) << "what was pending before us is not ours to take";
  sigaction(SIGPIPE, &before, nullptr);
}

TEST_F(Files, AbsolutePathsHaveSingleSlashesAndKeepTheirDots) {
  EXPECT_EQ(absolute_path(""), "");
  EXPECT_EQ(absolute_path("/"), "/");
  EXPECT_EQ(absolute_path("//a///b/"), "/a/b");
  EXPECT_EQ(absolute_path("/a/./b/../c"), "/a/b/../c") << "b may be a link";
  const fs::path before = fs::current_path();
  fs::create_directory(at("gone"));
  fs::current_path(at("gone"));
  EXPECT_EQ(absolute_path("./x"), fs::current_path().string() + "/x");
  fs::remove(at("gone"));
  EXPECT_EQ(absolute_path("x"), std::nullopt);
  EXPECT_EQ(absolute_path("//x"), "/x");
  fs::current_path(before);
}

TEST_F(Files, StampTellsReplacedFiles) {
  FileStamp before, after, same;
  ASSERT_EQ(publish_file(at("file"), "one"), 0);
  ASSERT_EQ(stamp_of(at("file"), before), 0);
  ASSERT_EQ(stamp_of(at("file"), same), 0);
  EXPECT_EQ(before, same);
  ASSERT_EQ(publish_file(at("file"), "two"), 0);
  ASSERT_EQ(stamp_of(at("file"), after), 0);
  EXPECT_NE(before, after);
}

}  // namespace
}  // namespace hstujit
