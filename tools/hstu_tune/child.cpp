#include "hstu_tune/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

extern char** environ;

namespace hstujit::tool {
namespace {

[[noreturn]] void failed(const char* doing, int error) {
  throw std::system_error(error, std::generic_category(), doing);
}

std::string read_all(int from) {
  std::string all;
  std::array<char, 4096> part;
  for (ssize_t count = 0; (count = read(from, part.data(), part.size())) != 0;) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) failed("reading from a process", errno);
    all.append(part.data(), static_cast<size_t>(count));
  }
  return all;
}

struct Pipe {
  Fd reading, writing;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) failed("making a pipe", errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::vector<std::string> self_with(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe").string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

/// `err` < 0: its standard error is ours, and it stays in our process group.
pid_t start(std::vector<std::string> words, int out, int err) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  if (err >= 0) posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // What we ignore (messages.hpp) others may rely on.
  sigset_t standard;
  sigemptyset(&standard);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&standard, signal);
  posix_spawnattr_setsigdefault(&attributes, &standard);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSIGDEF | (err >= 0 ? POSIX_SPAWN_SETPGROUP : 0)));
  pid_t child = 0;
  const int error = posix_spawnp(&child, pointers[0], &files, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error) failed("starting a process", error);
  return child;
}

int code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ChildOutput run_self(const std::vector<std::string>& arguments) { return run_command(self_with(arguments)); }

ChildOutput run_command(const std::vector<std::string>& words) {
  Pipe pipe = make_pipe();
  const pid_t child = start(words, pipe.writing.get(), -1);
  pipe.writing = Fd();
  ChildOutput output;
  output.out = read_all(pipe.reading.get());
  output.code = code_of(child);
  return output;
}

Child::Child(const std::vector<std::string>& arguments) {
  Pipe pipe = make_pipe();
  process_ = start(self_with(arguments), pipe.writing.get(), pipe.writing.get());
  reading_ = std::move(pipe.reading);
}

Child::Child(Child&& other) noexcept
    : reading_(std::move(other.reading_)), process_(std::exchange(other.process_, -1)) {}

Child::~Child() {
  if (process_ < 0) return;
  signal(SIGKILL);
  waitpid(process_, nullptr, 0);
}

void Child::signal(int number) const {
  if (process_ > 0) kill(process_, number);
}

int Child::wait() { return code_of(std::exchange(process_, -1)); }

}  // namespace hstujit::tool
