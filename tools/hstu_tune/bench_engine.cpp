// What the engine itself takes, beside Triton and CuPy in the same run: the start of a process whose kernels are in the
// store, and compiling many kernels at once. (Warm calls are in bench_warm_calls.cpp.)
#include "hstu_tune/bench.hpp"
#include "hstu_tune/child.hpp"
#include "hstu_tune/table.hpp"
#include "hstu_tune/warming.hpp"
#include "support/error.hpp"
#include "support/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

namespace hstujit::tool {
namespace {

constexpr size_t kMany = 64;  // kernels
constexpr const char *kPrewarm = "prewarm_64_kernels", *kStartOne = "start_1_kernel", *kStartMany = "start_64_kernels";

std::vector<std::string> families_of_needs(BenchRun& bench, const std::vector<Need>& needs) {
  std::vector<Problem> problems;
  for (const Need& need : needs) problems.push_back(need.problem);
  return families_of(bench.context(), problems);
}

/// An empty store for one measurement.
class EmptyStore {
 public:
  EmptyStore() {
    std::string name = (std::filesystem::temp_directory_path() / "hstujit-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) fail(HSTU_ERROR_STORE, "{}: cannot be made: {}", name, std::strerror(errno));
    path_ = name;
  }
  ~EmptyStore() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  EmptyStore(const EmptyStore&) = delete;
  EmptyStore& operator=(const EmptyStore&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// All of them into an empty store, on all cores.
void bench_prewarm(BenchRun& bench, const std::vector<Need>& needs, const std::vector<std::string>& families,
                   const std::string& store) {
  constexpr double kTargetS = 4;
  std::vector<std::unique_ptr<Context>> contexts;
  contexts.push_back(open_context({store}, bench.device));
  const auto start = std::chrono::steady_clock::now();
  warm(contexts, needs, [](const Warmed& one) {
    if (!one.plan) fail(HSTU_ERROR_COMPILE, "{}: {}", one.need->call->name, one.error);
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const int64_t compiles = contexts.front()->counters().compiles;
  const unsigned cores = std::thread::hardware_concurrency();
  fmt::print("{} kernels compiled on {} cores in {}\n", compiles, cores, duration_text(seconds));
  bench.report["prewarm"] = {{"kernels", compiles}, {"cores", cores}, {"s", seconds}};
  if (needs.size() == kMany)
    bench.report.add({kPrewarm, seconds, "s", false, kTargetS,
                      fmt::format("{} kernels, {} cores{}", compiles, cores, bench.rivals.text("compile_64_s", "s")),
                      families});
}

/// Milliseconds from the device's context to the last of the first `count` launches of a fresh process, or nothing when
/// it compiled or opened the compiler.
std::optional<double> start_ms(BenchRun& bench, const std::string& workload, const std::string& store, size_t count) {
  const ChildOutput child = run_self(
      {"first-calls", workload, "--device", bench.device, "--store", store, "--limit", fmt::format("{}", count)});
  if (child.code != 0) fail(HSTU_ERROR_INTERNAL, "the process that measures a start ended with {}", child.code);
  const auto result = read_json(child.out);
  double ms = result.at("context_ms");
  for (const auto& call : result.at("calls")) ms += call.at("ms").get<double>();
  const bool warm = result.at("compiles") == 0 && result.at("compiler_loaded") == false;
  bench.report["starts"].push_back({{"kernels", result.at("calls").size()}, {"ms", ms}, {"warm", warm}});
  fmt::print("first {} launches of a process: {}{}\n", result.at("calls").size(), duration_text(ms * 1e-3),
             warm ? ", nothing compiled" : ", but the store did not have all of them");
  return warm && result.at("calls").size() == count ? std::optional(ms) : std::nullopt;
}

}  // namespace

void bench_engine(BenchRun& bench, const std::string& workload, const std::vector<Need>& needs) {
  constexpr double kOneTargetMs = 3, kManyTargetMs = 15;
  const Report& report = bench.report;
  if (!report.wants(kPrewarm) && !report.wants(kStartOne) && !report.wants(kStartMany)) return;
  const EmptyStore store;
  fmt::print("\n");
  const std::vector<Need> some(needs.begin(),
                               needs.begin() + static_cast<std::ptrdiff_t>(std::min(needs.size(), kMany)));
  const std::vector<std::string> families = families_of_needs(bench, some);
  bench_prewarm(bench, some, families, store.path());
  if (const auto one = start_ms(bench, workload, store.path(), 1))
    bench.report.add({kStartOne,
                      *one,
                      "ms",
                      false,
                      kOneTargetMs,
                      "from the device's context to the launch" + bench.rivals.text("start_1_ms", "ms"),
                      {families_of_needs(bench, {needs.front()})},
                      true});
  if (const auto many = start_ms(bench, workload, store.path(), kMany))
    bench.report.add({kStartMany, *many, "ms", false, kManyTargetMs,
                      "from the device's context to the last launch" + bench.rivals.text("start_64_ms", "ms"), families,
                      true});
}

}  // namespace hstujit::tool
