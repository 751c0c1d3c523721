// What every subcommand shares: how it registers with the command line, which store and device it works on, and the
// exit codes (0 fine, 1 the work failed, 2 bad usage).
#pragma once

#include "capi/handle.hpp"
#include "hstu_tune/command_line.hpp"
#include "workload/calls.hpp"

#include <hstujit/hstujit.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hstujit::tool {

/// Ends the tool with exit code 2: the command line or a file it names is wrong.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One function per subcommand, in the file of its name: declares its options and what it does.
void add_bench(Command& program);
void add_build(Command& program);
void add_devices(Command& program);
void add_doctor(Command& program);
void add_export(Command& program);
void add_first_calls(Command& program);  ///< hidden, see bench_first_calls.cpp
void add_import(Command& program);
void add_merge(Command& program);
void add_ops(Command& program);
void add_pack(Command& program);
void add_report(Command& program);  ///< html_report.cpp
void add_run(Command& program);
void add_show(Command& program);
void add_tune(Command& program);
void add_verify(Command& program);
void add_warm(Command& program);

/// Where kernels and records are kept.
struct StoreChoice {
  std::optional<std::string> folder;  ///< --store; absent: as the environment says, "": in memory
};
void add_store_option(Command& command, StoreChoice& store);
void add_device_option(Command& command, std::string& device);
/// --arch sm_80,sm_90a: targets by name.
Option add_arch_option(Command& command, std::vector<std::string>& targets);

/// The context's options as the library itself would resolve them.
ContextOptions context_options(const StoreChoice& store, const std::string& device);
std::unique_ptr<Context> open_context(const StoreChoice& store, const std::string& device);

/// The same through the C API, as a host has it; its `context` member is the object inside.
struct DestroyContext {
  void operator()(hstu_context* context) const { hstu_context_destroy(context); }
};
using HostContext = std::unique_ptr<hstu_context, DestroyContext>;
HostContext open_host_context(const StoreChoice& store, const std::string& device,
                              hstu_miss_policy policy = HSTU_MISS_DEFAULT);

/// A workload with its calls; a file that is wrong is a UsageError.
struct Traffic {
  Workload workload;
  std::vector<Calls> calls;
  std::vector<Need> needs;  ///< refer to calls
};
std::unique_ptr<Traffic> load_traffic(const std::string& path);
std::unique_ptr<Traffic> traffic_of(Workload workload);

/// Names of the kernel families that the context chooses for the problems, each once. Compiles nothing.
std::vector<std::string> families_of(Context& context, const std::vector<Problem>& problems);
/// The same of all calls, those of the setup too.
std::vector<std::string> families_of(Context& context, const Calls& calls);

/// Whether a CUDA device can be used here.
bool has_gpu();
/// N of "cuda:N", 0 of "cuda".
int ordinal_of(const std::string& device);
/// Throws UsageError unless the device is a GPU's name.
void require_gpu_name(const std::string& device);

}  // namespace hstujit::tool
