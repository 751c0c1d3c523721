// The log is silent until asked, and says so when asked for a level that does not exist.
#include "support/log.hpp"

#include "support/error.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hstujit {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override { set_log_level("off"); }
};

TEST_F(Log, IsSilentByDefault) {
  testing::internal::CaptureStderr();
  log().error("nobody asked");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Log, PrintsFromTheAskedLevelUp) {
  set_log_level("info");
  testing::internal::CaptureStderr();
  log().debug("too much");
  log().info("compiled {} in {} ms", "x", 3);
  log().flush();
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.find("too much"), std::string::npos) << printed;
  EXPECT_NE(printed.find("hstujit info: compiled x in 3 ms\n"), std::string::npos) << printed;
}

TEST_F(Log, AClosedPipeDoesNotEndTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0) _exit(2);
    close(ends[0]);
    close(ends[1]);
    set_log_level("info");
    log().warn("nobody reads this");
    log().flush();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Log, RefusesUnknownLevels) {
  try {
    set_log_level("loud");
    FAIL() << "loud is no level";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(error.message().find("loud"), std::string::npos);
  }
}

}  // namespace
}  // namespace hstujit
