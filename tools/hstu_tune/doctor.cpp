// devices and doctor: what was found, what is missing, and how to mend it. Both work on a machine with nothing.
#include "cuda/nvrtc.hpp"
#include "hstu_tune/command.hpp"
#include "hstu_tune/table.hpp"
#include "support/embedded_text.hpp"
#include "support/env.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <set>

namespace hstujit::tool {
namespace {

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::vector<DeviceFacts> devices() {
  const Driver& opened = driver();
  int count = 0;
  opened.check(opened.cuDeviceGetCount(&count), "counting devices");
  std::vector<DeviceFacts> facts;
  for (int i = 0; i < count; ++i) facts.push_back(device_facts(opened, i));
  return facts;
}

void print_devices(const std::vector<DeviceFacts>& all) {
  Table table({"device", "name", "capability", ">SMs", ">shared memory", ">L2", "compiles for"});
  for (size_t i = 0; i < all.size(); ++i) {
    const DeviceFacts& facts = all[i];
    table.add({fmt::format("cuda:{}", i), facts.name,
               fmt::format("{}.{}", facts.compute_capability / 10, facts.compute_capability % 10),
               fmt::format("{}", facts.sm_count), fmt::format("{} KiB", facts.smem_per_block / 1024),
               fmt::format("{} MiB", facts.l2_bytes >> 20), facts.target});
  }
  table.print();
}

int list_devices() {
  try {
    const std::vector<DeviceFacts> all = devices();
    if (!all.empty()) return print_devices(all), 0;
    fmt::print(stderr, "hstu-tune: the driver reports no device; check nvidia-smi and CUDA_VISIBLE_DEVICES\n");
  } catch (const Error& error) { fmt::print(stderr, "hstu-tune: {}\n", error.message()); }
  return 1;
}

/// One finding a line; what is wrong is followed by what mends it.
class Report {
 public:
  void good(const char* what, const std::string& finding) { fmt::print("ok       {:<12} {}\n", what, finding); }
  void note(const char* what, const std::string& finding) { fmt::print("-        {:<12} {}\n", what, finding); }
  void missing(const char* what, std::string finding, const std::string& mend) {
    for (size_t at = finding.find('\n'); at != std::string::npos; at = finding.find('\n', at + 1))
      finding.insert(at + 1, kIndent, ' ');
    fmt::print("missing  {:<12} {}\n         {:<12} to mend: {}\n", what, finding, "", mend);
    ++missing_;
  }
  int missing_count() const { return missing_; }

 private:
  static constexpr size_t kIndent = 22;  ///< of what was found
  int missing_ = 0;
};

void examine_driver(Report& report) {
  try {
    const Driver& opened = driver();
    report.good("driver", fmt::format("CUDA {}, {}", version_text(opened.version), opened.path));
  } catch (const Error& error) {
    report.missing(
        "driver", error.message(),
        "install NVIDIA's driver (in a container: start it with --gpus all), or set HSTUJIT_LIBCUDA; without "
        "it the devices are cpu and, to compile only, sm_80, sm_86, sm_89, sm_90a");
    return;
  }
  const std::vector<DeviceFacts> all = devices();
  if (all.empty())
    report.missing("devices", "the driver reports none", "check nvidia-smi and CUDA_VISIBLE_DEVICES");
  else
    report.good("devices", fmt::format("{}", all.size()));
  print_devices(all);
}

void examine_nvrtc(Report& report, const Environment& environment) {
  try {
    const Nvrtc& nvrtc = nvrtc_at(environment.libnvrtc);
    report.good("NVRTC", fmt::format("{}, {}, compiles for {}", nvrtc.identity, nvrtc.library.path(),
                                     fmt::join(nvrtc.archs, " ")));
  } catch (const Error& error) {
    report.missing("NVRTC", error.message(),
                   "install it (apt-get install cuda-nvrtc-13-0, or pip install nvidia-cuda-nvrtc), or set "
                   "HSTUJIT_LIBNVRTC to its path; without it only stored kernels run");
  }
}

/// "" when a file can be written there, else why not.
std::string write_problem(const std::string& folder) {
  const std::string probe = fmt::format("{}/doctor-{}", folder, getpid());
  int error = make_folders(folder);
  if (error == 0) error = publish_file(probe, "probe");
  if (error != 0) return std::strerror(error);
  unlink(probe.c_str());
  return "";
}

struct Usage {
  int64_t files = 0, bytes = 0;
};

Usage usage_of(const std::filesystem::path& folder) {
  Usage usage;
  std::error_code ignored;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, ignored);
       entry != std::filesystem::recursive_directory_iterator(); entry.increment(ignored)) {
    if (ignored || entry->path().extension() != ".kernel") continue;
    ++usage.files;
    usage.bytes += static_cast<int64_t>(entry->file_size(ignored));
  }
  return usage;
}

void examine_store(Report& report, const ContextOptions& options) {
  if (options.store_path.empty()) return report.note("store", "none: everything stays in memory");
  const std::string problem = write_problem(options.store_path);
  if (!problem.empty()) {
    report.missing("store", fmt::format("{} cannot be written: {}", options.store_path, problem),
                   "make it writable, or set HSTUJIT_STORE or --store to a folder that is");
    return;
  }
  const Usage usage = usage_of(options.store_path);
  const Records records(
      records_options(options.store_path, options.system_store_path, open_pack(options.system_store_path).get()));
  report.good("store",
              fmt::format("{}, writable, {} kernels in {:.1f} MiB, {} tuned problems", options.store_path, usage.files,
                          static_cast<double>(usage.bytes) / (1 << 20), records.winners()->size()));
}

/// A pack must be sound and, where there is a GPU, hold kernels for it.
void examine_pack(Report& report, const std::string& path) {
  const std::string again = "build it again: hstu-tune build --arch TARGET --workload FILE -o " + path;
  std::set<std::string> targets;
  size_t kernels = 0;
  try {
    const std::vector<Pack::Item> items = Pack(path).items();
    kernels = items.size();
    for (const Pack::Item& item : items) targets.insert(item.kernel.target);
  } catch (const Error& error) { return report.missing("pack", error.message(), again); }
  const std::string found = fmt::format("{}, {} kernels for {}", path, kernels, fmt::join(targets, ", "));
  if (has_gpu())
    for (const DeviceFacts& facts : devices())
      if (!targets.contains(facts.target))
        return report.missing("pack", fmt::format("{}; none for {} ({})", found, facts.target, facts.name), again);
  report.good("pack", found);
}

void examine_system_store(Report& report, const std::string& folder) {
  if (folder.empty()) return report.note("system store", "none");
  if (std::filesystem::is_regular_file(folder)) return examine_pack(report, folder);
  if (std::filesystem::is_directory(folder))
    report.good("system store", fmt::format("{}, {} kernels", folder, usage_of(folder).files));
  else
    report.missing("system store", folder + " is neither a folder nor a pack",
                   "correct HSTUJIT_SYSTEM_STORE, or unset it");
}

void examine_kernels(Report& report, const std::string& folder) {
  if (folder.empty())
    report.good("kernels", fmt::format("{} files in the library", embedded_kernels().size()));
  else if (std::filesystem::is_regular_file(folder + "/prim/types.cuh"))
    report.good("kernels", fmt::format("taken from {} (HSTUJIT_KERNELS)", folder));
  else
    report.missing("kernels", folder + " holds no kernel sources", "correct HSTUJIT_KERNELS, or unset it");
}

int doctor(const StoreChoice& store) {
  const Environment environment = Environment::read();
  Report report;
  report.good("library", fmt::format("libhstujit {}", hstu_version()));
  examine_driver(report);
  examine_nvrtc(report, environment);
  examine_store(report, context_options(store, "cpu"));
  examine_system_store(report, environment.system_store);
  examine_kernels(report, environment.kernels);
  fmt::print("{}\n", report.missing_count() == 0 ? "nothing is missing"
                                                 : fmt::format("{} missing, see above", report.missing_count()));
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  app.add_subcommand("devices", "List the CUDA devices")->callback([&action] { action = list_devices; });
}

void add_doctor(CLI::App& app, Action& action) {
  auto store = std::make_shared<StoreChoice>();
  CLI::App* command = app.add_subcommand("doctor", "Say what was found, what is missing and how to mend it");
  add_store_option(*command, *store);
  command->callback([&action, store] { action = [store] { return doctor(*store); }; });
}

}  // namespace hstujit::tool
