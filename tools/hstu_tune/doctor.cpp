// devices and doctor: what was found, what is missing, and how to mend it. Both work on a machine with nothing.
#include "hstu_tune/doctor.hpp"

#include "hstu_tune/messages.hpp"
#include "hstu_tune/table.hpp"
#include "support/embedded_text.hpp"
#include "support/env.hpp"
#include "support/error.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace hstujit::tool {
namespace {

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

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
    complain("the driver reports no device; check nvidia-smi and CUDA_VISIBLE_DEVICES");
  } catch (const Error& error) { complain("{}", error.message()); }
  return 1;
}

void examine_driver(Findings& findings) {
  try {
    const Driver& opened = driver();
    findings.good("driver", fmt::format("CUDA {}, {}", version_text(opened.version), opened.path));
  } catch (const Error& error) {
    findings.missing(
        "driver", error.message(),
        "install NVIDIA's driver (in a container: start it with --gpus all), or set HSTUJIT_LIBCUDA; without "
        "it the devices are cpu and, to compile only, sm_80, sm_86, sm_89, sm_90a");
    return;
  }
  const std::vector<DeviceFacts> all = devices();
  if (all.empty())
    findings.missing("devices", "the driver reports none", "check nvidia-smi and CUDA_VISIBLE_DEVICES");
  else
    findings.good("devices", fmt::format("{}", all.size()));
  print_devices(all);
}

void examine_kernels(Findings& findings, const std::string& folder) {
  if (folder.empty())
    findings.good("kernels", fmt::format("{} files in the library", embedded_kernels().size()));
  else if (std::filesystem::is_regular_file(folder + "/prim/types.cuh"))
    findings.good("kernels", fmt::format("taken from {} (HSTUJIT_KERNELS)", folder));
  else
    findings.missing("kernels", folder + " holds no kernel sources", "correct HSTUJIT_KERNELS, or unset it");
}

int doctor(const StoreChoice& store) {
  const Environment environment = Environment::read();
  Findings findings;
  findings.good("library", fmt::format("libhstujit {}", hstu_version()));
  examine_driver(findings);
  examine_compiler(findings, environment);
  examine_store(findings, context_options(store, "cpu"));
  examine_system_store(findings, environment.system_store);
  examine_kernels(findings, environment.kernels);
  fmt::print("{}\n", findings.summary());
  return 0;
}

}  // namespace

std::vector<DeviceFacts> devices() {
  const Driver& opened = driver();
  int count = 0;
  opened.check(opened.cuDeviceGetCount(&count), "counting devices");
  std::vector<DeviceFacts> facts;
  for (int i = 0; i < count; ++i) facts.push_back(device_facts(opened, i));
  return facts;
}

void add_devices(Command& program) { program.subcommand("devices", "List the CUDA devices").runs(list_devices); }

void add_doctor(Command& program) {
  auto store = std::make_shared<StoreChoice>();
  Command command = program.subcommand("doctor", "Say what was found, what is missing and how to mend it");
  add_store_option(command, *store);
  command.runs([store] { return doctor(*store); });
}

}  // namespace hstujit::tool
