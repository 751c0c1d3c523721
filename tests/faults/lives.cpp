#include "faults/lives.hpp"

#include "cuda/device.hpp"
#include "families/family.hpp"
#include "faults/faults.hpp"
#include "faults/no_memory.hpp"
#include "faults/no_threads.hpp"
#include "jit/jit.hpp"
#include "jit/pack.hpp"
#include "operators/operators.hpp"
#include "records/records.hpp"
#include "specialise/source.hpp"
#include "support/tool_process.hpp"
#include "tuner/space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

namespace hstujit::test {

constexpr size_t kMostPlaces = 1 << 20;
constexpr int kSecondsToLive = 20;
constexpr int64_t kRows = 8, kDim = 64, kDepth = 128;  // of products on the host: enough for two threads

/// What a child process says.
struct Told {
  int refused;
  int64_t allocations;
  char wrong[400];
  uint64_t places[kMostPlaces];
};

namespace {

/// In memory that parent and children share.
Told* shared_told() {
  static void* const told =
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (told == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Told*>(told);
}

alignas(256) uint16_t x[kRows * kDim * 2], y[kRows * kDim], weight[kDim], a[kDepth * kDepth], b[kDepth * kDepth],
    product[kDepth * kDepth];

hstu_layer_norm_args norm(int64_t rows, int64_t shift) {
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(x + shift * kDim, HSTU_DTYPE_BF16, rows, kDim);
  args.out = hstu_matrix(y, HSTU_DTYPE_BF16, rows, kDim);
  args.weight = args.bias = hstu_vector(weight, HSTU_DTYPE_BF16, kDim);
  return args;
}

hstu_addmm_args square() {
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(a, HSTU_DTYPE_BF16, kDepth, kDepth);
  args.w = hstu_matrix(b, HSTU_DTYPE_BF16, kDepth, kDepth);
  args.out = hstu_matrix(product, HSTU_DTYPE_BF16, kDepth, kDepth);
  return args;
}

/// The calls of a life. None of it allocates: what is counted is the library's.
class Living {
 public:
  Living(const Life& life, const char* store, const char* pack, Told& told)
      : life_(life), store_(store), pack_(pack), told_(told) {}

  /// From now on nothing may be refused.
  void memory_is_back() { plenty_ = true; }

  hstu_context* create() {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = life_.device;
    options.store_path = store_;
    options.system_store_path = pack_;
    options.miss_policy = life_.policy;
    options.tune_budget_ms = 20;
    hstu_context* context = nullptr;
    look("create", hstu_context_create(&context, &options));
    return context;
  }

  void use(hstu_context* context) {
    if (!context) return;
    for (const int64_t shift : {0, 0, 0, 1, 2, 3, 3}) {
      const hstu_layer_norm_args args = norm(kRows, shift);
      until_ready("call", context, [&] { return hstu_layer_norm(context, &args, nullptr); });
    }
    if (std::strcmp(life_.device, "cpu") == 0) {
      const hstu_addmm_args args = square();
      look("product", hstu_addmm(context, &args, nullptr));
    }
    use_plan(context);
    hstu_counters counters{};
    counters.struct_size = sizeof counters;
    look("counters", hstu_context_counters(context, &counters));
    char text[8192];
    look("metrics", hstu_context_metrics(context, text, sizeof text, nullptr));
    look("finish", hstu_context_finish(context));
  }

  void record(hstu_context* context) {
    if (!context || !*store_) return;
    const hstu_status recording = hstu_context_record_traffic(context, 1);
    look("recording", recording);
    const hstu_layer_norm_args args = norm(kRows, 0);
    const hstu_status status = hstu_layer_norm(context, &args, nullptr);
    look("recorded call", life_.policy == HSTU_MISS_ASYNC && status == HSTU_ERROR_NOT_READY ? HSTU_OK : status);
    char path[512];
    std::snprintf(path, sizeof path, "%s/traffic.json", store_);
    if (recording == HSTU_OK && status == HSTU_OK) look("traffic", hstu_context_write_traffic(context, path, nullptr));
    look("recording no more", hstu_context_record_traffic(context, 0));
  }

  void whole_life() {
    hstu_context* const context = create();
    use(context);
    record(context);
    hstu_context_destroy(context);
  }

 private:
  void use_plan(hstu_context* context) {
    const hstu_layer_norm_args args = norm(kRows, 0), moved = norm(kRows, 2);
    hstu_plan* plan = nullptr;
    until_ready("plan", context, [&] { return hstu_plan_get(&plan, context, "layer_norm", &args, nullptr); });
    if (!plan) return;
    for (int i = 0; i < 2; ++i) look("launch", hstu_plan_launch(plan, nullptr, nullptr));
    look("moved launch", hstu_plan_launch(plan, &moved, nullptr));
    hstu_plan_release(plan);
  }

  /// A call whose kernel may be prepared in the background: again after that.
  template <class Call>
  void until_ready(const char* what, hstu_context* context, const Call& call) {
    constexpr int kRounds = 4;
    for (int i = 0; i < kRounds; ++i) {
      const hstu_status status = call();
      if (life_.policy != HSTU_MISS_ASYNC || (status == HSTU_OK)) return look(what, status);
      if (status != HSTU_ERROR_NOT_READY && !(plenty_ && i == 0)) return look(what, status);
      look("finish", hstu_context_finish(context));  // a failure that the background met before is told once
    }
    if (plenty_) wrong("%s: never ready: %s", what, hstu_last_error());
  }

  void look(const char* what, hstu_status status) {
    if (status == HSTU_OK) return;
    if (!*hstu_last_error()) wrong("%s: status %s without a message%s", what, hstu_status_name(status), "");
    if (status == HSTU_ERROR_OUT_OF_MEMORY) ++told_.refused;
    if (status == HSTU_ERROR_OUT_OF_MEMORY && !plenty_) return;
    wrong(plenty_ ? "%s with memory again: %s" : "%s: %s", what, hstu_last_error());
  }

  template <class... Args>
  void wrong(const char* format, Args... args) {
    if (!*told_.wrong) std::snprintf(told_.wrong, sizeof told_.wrong, format, args...);
  }

  const Life& life_;
  const char *const store_, *const pack_;
  Told& told_;
  bool plenty_ = false;
};

void set_environment(const Life& life) {
  setenv("HSTUJIT_LIBCUDA", (life.policy == HSTU_MISS_TUNE ? norm_driver_path() : fake_driver_path()).c_str(), 1);
  setenv("HSTUJIT_LIBNVRTC", fake_nvrtc_path().c_str(), 1);
  setenv("HSTU_FAKE_FILLS_MOST", "1000000", 1);
  setenv("HSTUJIT_LOG", "info", 1);
}

/// Everything that the calls of a life need, as one machine packs it for another.
void write_pack(const std::string& path) {
  DeviceFacts facts = *facts_of_target("sm_90a");
  facts.name = "NVIDIA H200";
  hstu_layer_norm_args args = norm(kRows, 0);
  Job job;
  job.uid = "packed";
  job.problem = prepare(args);
  job.device_class = facts.device_class();
  job.state = JobState::finished;
  const Family& family = *families_for(job.problem, facts).front();
  const Config standard = family.default_config(job.problem, facts);
  const Space space = enumerate(family, job.problem, facts);
  Jit jit({"", "", "", fake_nvrtc_path()});
  PackBuilder builder;
  const auto add = [&](const Config& config, int64_t median_ns) {
    const Source source = specialise(family, job.problem, config, facts);
    builder.add(jit.key_of(source), *jit.obtain(source));
    Trial& trial = job.trials.emplace_back();
    trial.family = family.name;
    trial.config = text(family, config);
    trial.space = space_text(family);
    trial.standard = config == standard;
    trial.timing = {30, median_ns, 1, median_ns - 1, median_ns + 1};
  };
  add(standard, 1000);
  add(space.points()[0] == standard ? space.points()[1] : space.points()[0], 500);
  Records records({"", ""});
  records.absorb({job});
  std::ofstream(path, std::ios::binary) << builder.finish(records.export_text(ExportKind::everything));
}

/// The end of what a process wrote to a file.
std::string last_words(int fd) {
  char text[600];
  const off_t size = lseek(fd, 0, SEEK_END), wanted = static_cast<off_t>(sizeof text);
  const ssize_t got = pread(fd, text, sizeof text, std::max<off_t>(0, size - wanted));
  return got > 0 ? std::string(text, static_cast<size_t>(got)) : "";
}

}  // namespace

std::vector<uint64_t> LivesRoom::places(int depth) const {
  const LifeReport report =
      in_child([&](Told& told) { live_here<AllocationPlaces>(told, told.places, kMostPlaces, depth); });
  if (!report.wrong.empty()) throw std::runtime_error("a life that lacks nothing: " + report.wrong);
  const Told& told = *shared_told();
  return {told.places, told.places + std::min(static_cast<size_t>(told.allocations), kMostPlaces)};
}

LifeReport LivesRoom::live(int64_t nth, bool lasting) const {
  return in_child([&](Told& told) { live_here<NoMemory>(told, nth, lasting); });
}

LifeReport LivesRoom::live_without_threads(int refused) const {
  return in_child([&](Told& told) {
    const TempDir store;
    const std::string store_path = life_.store ? store.str() + "/store" : "", pack = life_.pack ? pack_path() : "";
    Living living(life_, store_path.c_str(), pack.c_str(), told);
    living.memory_is_back();
    const NoThreads none(refused);
    living.whole_life();
  });
}

std::string call_until_ready(int refused_threads) {
  constexpr Life kLife{"", "cuda:0", HSTU_MISS_ASYNC, false, false};
  return LivesRoom(kLife)
      .in_child([&](Told& told) {
        Living living(kLife, "", "", told);
        living.memory_is_back();
        const NoThreads none(refused_threads);
        hstu_context* const context = living.create();
        const hstu_layer_norm_args args = norm(kRows, 0);
        const hstu_status first = hstu_layer_norm(context, &args, nullptr),
                          second = hstu_layer_norm(context, &args, nullptr);
        if (first != HSTU_ERROR_NOT_READY || second != HSTU_OK)
          std::snprintf(told.wrong, sizeof told.wrong, "%s, then %s: %s", hstu_status_name(first),
                        hstu_status_name(second), hstu_last_error());
        hstu_context_destroy(context);
      })
      .wrong;
}

template <class Watch, class... Args>
void LivesRoom::live_here(Told& told, Args... args) const {
  const TempDir store;
  const std::string store_path = life_.store ? store.str() + "/store" : "", pack = life_.pack ? pack_path() : "";
  Living living(life_, store_path.c_str(), pack.c_str(), told);
  hstu_context* survivor = nullptr;
  std::optional<Watch> watch;
  std::thread([&] {  // whose end is part of it
    watch.emplace(args...);
    living.whole_life();
    survivor = living.create();
    living.use(survivor);
  })
      .join();
  watch.reset();
  told.allocations = counted_allocations();
  living.memory_is_back();
  living.use(survivor);
  living.record(survivor);
  hstu_context_destroy(survivor);
  living.whole_life();
}

template <class Body>
LifeReport LivesRoom::in_child(const Body& body) const {
  Told& told = *shared_told();
  told.refused = 0;
  told.wrong[0] = '\0';
  const int errors = memfd_create("errors", MFD_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsToLive);
    dup2(errors, STDERR_FILENO);
    set_environment(life_);
    flush_nothing();
    body(told);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  LifeReport report{told.wrong, told.refused};
  if (status != 0 && report.wrong.empty())
    report.wrong = (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an exit code") + (": " + last_words(errors));
  close(errors);
  return report;
}

LivesRoom::LivesRoom(const Life& life) : life_(life) {
  if (!life.pack) return;
  const LifeReport report = in_child([&](Told&) { write_pack(pack_path()); });
  if (!report.wrong.empty()) throw std::runtime_error("no pack: " + report.wrong);
}

}  // namespace hstujit::test
