// Files that a person named: each kind stays what it is and gets all of the bytes.
#include "support/output.hpp"

#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <thread>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

class Output : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }
  static std::string read(const std::string& path) {
    std::string out;
    EXPECT_EQ(read_file(path, out), 0) << path;
    return out;
  }
  size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()));
  }
  test::TempDir dir_;
};

TEST_F(Output, ARegularFileIsReplacedAtOnce) {
  ASSERT_EQ(write_output(at("file"), "first"), 0);
  fs::create_hard_link(at("file"), at("before"));
  ASSERT_EQ(write_output(at("file"), "second"), 0);
  EXPECT_EQ(read(at("file")), "second");
  EXPECT_EQ(read(at("before")), "first") << "nobody sees half of it";
  EXPECT_EQ(write_output(at("new/folder/file"), "x"), 0);
}

TEST_F(Output, ALinkStaysAndItsTargetGetsTheBytes) {
  ASSERT_EQ(write_output(at("target"), "something longer than what comes"), 0);
  fs::create_symlink("target", at("link"));
  fs::create_symlink("link", at("link to it"));
  ASSERT_EQ(write_output(at("link to it"), "bytes"), 0);
  EXPECT_EQ(read(at("target")), "bytes");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_TRUE(fs::is_symlink(at("link to it")));
  fs::create_symlink("absent", at("dangling"));
  ASSERT_EQ(write_output(at("dangling"), "made"), 0);
  EXPECT_EQ(read(at("absent")), "made");
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
  fs::create_symlink("no such folder/file", at("lost"));
  EXPECT_EQ(write_output(at("lost"), "x"), ENOENT);
  fs::create_symlink(".", at("folder"));
  EXPECT_EQ(write_output(at("folder"), "x"), EISDIR);
}

TEST_F(Output, AFifoGetsTheBytes) {
  ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
  const std::string sent(200'000, 'x');  // more than a pipe holds
  std::string got;
  std::thread reader([&] {
    const Fd fd(open(at("fifo").c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> part;
    for (ssize_t n; (n = ::read(fd.get(), part.data(), part.size())) > 0;)
      got.append(part.data(), static_cast<size_t>(n));
  });
  EXPECT_EQ(write_output(at("fifo"), sent), 0);
  reader.join();
  EXPECT_EQ(got, sent);
  EXPECT_TRUE(fs::is_fifo(at("fifo")));
  EXPECT_EQ(count(), 1u);
}

TEST_F(Output, DevicesStayAndTellWhenTheyAreFull) {
  for (const char* device : {"/dev/null", "/dev/full"}) fs::create_symlink(device, at(fs::path(device).filename()));
  EXPECT_EQ(write_output(at("null"), "x"), 0);
  EXPECT_EQ(write_output(at("full"), "x"), ENOSPC);
  EXPECT_EQ(write_output("/dev/null", "x"), 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(count(), 2u);
}

TEST_F(Output, WhatCannotBeWrittenComesBackAsErrno) {
  EXPECT_EQ(write_output(dir_.str(), "x"), EISDIR);
  EXPECT_NE(write_output("", "x"), 0);
  ASSERT_EQ(write_output(at("file"), "x"), 0);
  EXPECT_EQ(write_output(at("file/below"), "x"), ENOTDIR);
}

/// Standard output leads elsewhere while one lives.
class Redirected {
 public:
  explicit Redirected(int to) : before_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    dup2(to, STDOUT_FILENO);
  }
  ~Redirected() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }

 private:
  int before_;
};

TEST_F(Output, StandardOutputByNameComesAfterWhatWasPrintedAndBeforeWhatWillBe) {
  const Fd file(open(at("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  fs::create_symlink("/proc/self/fd/1", at("stdout"));
  {
    const Redirected redirected(file.get());
    std::printf("before ");
    EXPECT_EQ(write_output(at("stdout"), "bytes"), 0);
    std::printf(" after");
  }
  EXPECT_EQ(read(at("out")), "before bytes after");
}

TEST_F(Output, StandardOutputByNameMayBeASocket) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Fd ours(ends[0]), theirs(ends[1]);
  {
    const Redirected redirected(theirs.get());
    EXPECT_EQ(write_output("/proc/self/fd/1", "bytes"), 0);
  }
  char got[16] = {};
  EXPECT_EQ(::read(ours.get(), got, sizeof got), 5);
  EXPECT_STREQ(got, "bytes");
}

}  // namespace
}  // namespace hstujit
