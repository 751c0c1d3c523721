#include "hstu_tune/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace hstujit::tool {
namespace {

constexpr int kBarWidth = 24;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kNextLine{5};

size_t terminal_width(FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void on_signal(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);  // the second one ends the process
}

}  // namespace

Progress::Progress(FILE* out) : out_(out), terminal_(isatty(fileno(out)) == 1) {}

Progress::~Progress() { clear(); }

// Cost does not end because nobody can watch it.
void Progress::put(const std::string& text) { std::fputs(text.c_str(), out_); }

void Progress::clear() {
  if (drawn_) put("\r\033[K");
  drawn_ = false;
  std::fflush(out_);
}

void Progress::show(double share, const std::string& text) {
  if (Clock::now() < next_) return;
  next_ = Clock::now() + (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kNextLine));
  share = std::clamp(share, 0.0, 1.0);
  if (!terminal_) {
    put(fmt::format("{:3.0f} %  {}\n", share * 100, text));
  } else {
    const int full = static_cast<int>(share * kBarWidth);
    std::string line = fmt::format("[{:#>{}}{:.>{}}] {}", "", full, "", kBarWidth - full, text);
    line.resize(std::min(line.size(), terminal_width(out_) - 1));
    put(fmt::format("\r{}\033[K", line));
    drawn_ = true;
  }
  std::fflush(out_);
}

void Progress::line(const std::string& text) {
  clear();
  put(text + "\n");
  std::fflush(out_);
}

Interrupt::Interrupt() {
  interrupted = false;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& Interrupt::flag() { return interrupted; }

}  // namespace hstujit::tool
