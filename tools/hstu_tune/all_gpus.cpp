#include "hstu_tune/all_gpus.hpp"

#include "hstu_tune/child.hpp"
#include "hstu_tune/merge.hpp"
#include "hstu_tune/messages.hpp"
#include "hstu_tune/progress.hpp"
#include "hstu_tune/shard.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

namespace hstujit::tool {
namespace {

/// A process and the line that it has begun.
struct Tuner {
  Child child;
  std::string line;
  bool done = false;
};

std::vector<Tuner> start(const std::vector<std::string>& command, int processes) {
  std::vector<Tuner> tuners;
  for (int i = 0; i < processes; ++i) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(),
                     {"--shard", fmt::format("{}/{}", i, processes), "--device", fmt::format("cuda:{}", i)});
    tuners.push_back({Child(arguments), "", false});
  }
  return tuners;
}

void print_lines(Tuner& tuner, size_t device) {
  for (size_t end = tuner.line.find('\n'); end != std::string::npos; end = tuner.line.find('\n')) {
    // Tuning does not end because nobody hears of it; main tells of what could not be printed.
    std::fputs(fmt::format("[cuda:{}] {}\n", device, tuner.line.substr(0, end)).c_str(), stdout);
    tuner.line.erase(0, end + 1);
  }
  std::fflush(stdout);
}

void read_from(Tuner& tuner, size_t device) {
  std::array<char, 4096> part;
  const ssize_t count = read(tuner.child.output(), part.data(), part.size());
  if (count < 0 && errno == EINTR) return;
  if (count > 0) {
    tuner.line.append(part.data(), static_cast<size_t>(count));
  } else {
    tuner.done = true;
    if (!tuner.line.empty()) tuner.line += '\n';
  }
  print_lines(tuner, device);
}

/// Prints until all have closed their output; the first Ctrl-C is passed on, once.
void follow(std::vector<Tuner>& tuners) {
  constexpr int kLookMs = 200;
  for (bool told = false; std::any_of(tuners.begin(), tuners.end(), [](const Tuner& t) { return !t.done; });) {
    if (Interrupt::asked() && !told) {
      for (const Tuner& tuner : tuners) tuner.child.signal(SIGINT);
      told = true;
    }
    std::vector<pollfd> ends;
    ends.reserve(tuners.size());
    for (const Tuner& tuner : tuners) ends.push_back({tuner.done ? -1 : tuner.child.output(), POLLIN, 0});
    if (poll(ends.data(), ends.size(), kLookMs) <= 0) continue;
    for (size_t i = 0; i < tuners.size(); ++i)
      if (ends[i].revents != 0) read_from(tuners[i], i);
  }
}

std::vector<std::string> stores_of(const std::string& store, int processes) {
  std::vector<std::string> stores;
  for (int i = 0; i < processes; ++i) {
    const std::string folder = processes == 1 ? store : Shard{i, processes, 0, ""}.folder_in(store);
    if (folder != store && std::filesystem::exists(folder + "/tuner.db")) stores.push_back(folder);
  }
  return stores;
}

}  // namespace

int tune_in_processes(const std::vector<std::string>& command, int processes, const std::string& store) {
  const Interrupt interrupt;
  std::vector<Tuner> tuners = start(command, processes);
  follow(tuners);
  int failed = 0;
  for (size_t i = 0; i < tuners.size(); ++i) {
    const int code = tuners[i].child.wait();
    failed += code != 0;
    if (code != 0) complain("the process on cuda:{} ended with {}", i, code);
  }
  const int merged = merge_stores(stores_of(store, processes), {store});
  return failed == 0 ? merged : 1;
}

}  // namespace hstujit::tool
