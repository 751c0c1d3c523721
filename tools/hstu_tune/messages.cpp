#include "hstu_tune/messages.hpp"

#include "support/shown.hpp"
#include "support/unkept.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

namespace hstujit::tool {
namespace {

bool all_was_printed() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  complain("standard output was not written completely{}{}", errno ? ": " : "", errno ? std::strerror(errno) : "");
  return false;
}

bool all_was_kept() {
  const Unkept lost = unkept();
  if (lost.kernels + lost.records == 0) return true;
  complain(
      "{} kernels and {} records were not kept in the store: {}; see hstu-tune doctor, or --store \"\" if nothing "
      "is to be kept",
      lost.kernels, lost.records, lost.reason);
  return false;
}

}  // namespace

void say(std::string_view text) {
  std::string shown;
  try {
    shown = escaped(text, Lines::many);  // files of others are quoted in it
    text = shown;
  } catch (const std::exception&) {}  // no memory: as it is
  std::fprintf(stderr, "hstu-tune: %.*s\n", static_cast<int>(text.size()), text.data());
}

void prepare_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // takes the free place
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

int final_code(int code) {
  const bool printed = all_was_printed(), kept = all_was_kept();
  return code == 0 && !(printed && kept) ? 1 : code;
}

}  // namespace hstujit::tool
