// A library is opened where memory runs out: it opens or it does not, and can be opened afterwards. An initialiser that
// throws would leave dlopen with the loader's lock held, and whoever opens a library next would wait for ever. Each try
// is a process of its own.
#include "faults/no_memory.hpp"
#include "support/tool_process.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

namespace hstujit::test {
namespace {

struct Opened {
  const char* name;
  std::string (*path)();
};
const Opened kLibraries[] = {
    {"fake_driver", fake_driver_path}, {"norm_driver", norm_driver_path}, {"fake_nvrtc", fake_nvrtc_path}};

/// Exit code of a child process that runs this, for 10 seconds at most; 1000 and the signal that ended it.
template <class Body>
int code_of_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// 0: the library opens once there is memory again, in another thread.
int open_without(const std::string& path, int64_t nth, bool lasting) {
  {
    const NoMemory none(nth, lasting);
    dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  int code = 1;
  std::thread([&] { code = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) ? 0 : 2; }).join();
  return code;
}

class OpeningWithoutMemory : public testing::TestWithParam<Opened> {};
INSTANTIATE_TEST_SUITE_P(Of, OpeningWithoutMemory, testing::ValuesIn(kLibraries),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(OpeningWithoutMemory, LeavesTheLoaderFree) {
  if (!can_refuse_memory()) GTEST_SKIP() << "a sanitizer has its own functions in malloc's place";
  const std::string path = GetParam().path();
  const int allocations = code_of_child([&] {
    constexpr int64_t kNever = int64_t{1} << 40;
    const NoMemory counting(kNever, false);
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return 0;
    return static_cast<int>(std::min<int64_t>(counted_allocations(), 255));
  });
  ASSERT_GT(allocations, 3) << path << " does not open";
  ASSERT_LT(allocations, 255) << "there are more than an exit code tells";
  for (int nth = 0; nth < allocations; ++nth)
    for (const bool lasting : {false, true})
      EXPECT_EQ(code_of_child([&] { return open_without(path, nth, lasting); }), 0)
          << "allocation " << nth << (lasting ? " and all later ones" : "");
}

}  // namespace
}  // namespace hstujit::test
