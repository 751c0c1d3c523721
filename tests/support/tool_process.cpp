#include "support/tool_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

extern char** environ;

namespace hstujit::test {
namespace {

/// The build's folder for tests, in which this program lies.
std::filesystem::path tests_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> environment_with(const Variables& more) {
  std::vector<std::string> all;
  for (char** each = environ; *each; ++each) {
    const std::string entry = *each;
    if (!more.contains(entry.substr(0, entry.find('=')))) all.push_back(entry);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> command_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {hstu_tune_path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Variables with_defaults(Variables more, const std::string& store) {
  more.try_emplace("HSTUJIT_STORE", store);
  more.try_emplace("HSTUJIT_LIBCUDA", "/nowhere/libcuda.so.1");
  return more;
}

}  // namespace

ToolProcess::ToolProcess(std::vector<std::string> command, const Variables& more) {
  const std::string out = dir_.str() + "/out", err = dir_.str() + "/err";
  std::vector<std::string> variables = environment_with(more);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  const int failed = posix_spawnp(&process_, command[0].c_str(), &files, nullptr, pointers(command).data(),
                                  pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  if (failed) throw std::system_error(failed, std::generic_category(), command[0]);
}

ToolProcess::ToolProcess(const std::vector<std::string>& arguments, const std::string& store, Variables more)
    : ToolProcess(command_of(arguments), with_defaults(std::move(more), store)) {}

ToolProcess::~ToolProcess() {
  if (process_ < 0) return;
  signal(SIGKILL);
  waitpid(process_, nullptr, 0);
}

void ToolProcess::signal(int number) const { kill(process_, number); }

Outcome ToolProcess::wait() {
  int status = 0;
  waitpid(std::exchange(process_, -1), &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, contents(dir_.str() + "/out"), contents(dir_.str() + "/err")};
}

Outcome hstu_tune(const std::vector<std::string>& arguments, const std::string& store, Variables more) {
  return ToolProcess(arguments, store, std::move(more)).wait();
}

Outcome run_program(const std::vector<std::string>& command, const Variables& more) {
  try {
    return ToolProcess(command, more).wait();
  } catch (const std::system_error& error) { return {127, "", error.what()}; }
}

std::string hstu_tune_path() { return tests_folder().parent_path() / "hstu-tune"; }
std::string fake_driver_path() { return tests_folder() / "support/fake_driver/libfake_driver.so"; }
std::string norm_driver_path() { return tests_folder() / "tools/norm_driver/libnorm_driver.so"; }
std::string fake_nvrtc_path() { return tests_folder() / "tools/fake_nvrtc/libfake_nvrtc.so"; }
std::string fake_nvtx_path() { return tests_folder() / "tools/fake_nvtx/libfake_nvtx.so"; }
std::string fake_disk_path() { return tests_folder() / "tools/fake_disk/libfake_disk.so"; }

}  // namespace hstujit::test
