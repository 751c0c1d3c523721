#include "hstu_tune/child.hpp"

#include "support/files.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

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

pid_t start(std::vector<std::string> words, int out) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, pointers[0], &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error) failed("starting a process", error);
  return child;
}

}  // namespace

ChildOutput run_self(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe").string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) failed("making a pipe", errno);
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t child = start(words, writing.get());
  writing = Fd();
  ChildOutput output;
  output.out = read_all(reading.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

}  // namespace hstujit::tool
