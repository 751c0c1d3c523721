#include "hstu_tune/command.hpp"

#include "cuda/driver.hpp"
#include "records/choose.hpp"
#include "support/env.hpp"
#include "support/error.hpp"

#include <set>

namespace hstujit::tool {

void add_store_option(Command& command, StoreChoice& store) {
  command.option(
      "--store", [&store](const std::string& folder) { store.folder = folder; },
      "Folder of the store; \"\" keeps everything in memory (default: $HSTUJIT_STORE, else the cache folder)");
}

void add_device_option(Command& command, std::string& device) {
  command.option("--device", device, "cuda, cuda:N, or cuda@sm_80: kernels of that generation only").shows_default();
}

Option add_arch_option(Command& command, std::vector<std::string>& targets) {
  return command.option("--arch", targets, "Compile for these targets instead: sm_80, sm_86, sm_89, sm_90a")
      .comma_separated()
      .checked([](const std::string& target) {
        return facts_of_target(target) ? std::string() : target + ": known targets are sm_80, sm_86, sm_89 and sm_90a";
      });
}

ContextOptions context_options(const StoreChoice& store, const std::string& device) {
  const Environment environment = Environment::read();
  ContextOptions options;
  options.device = device;
  options.store_path = store.folder.value_or(environment.store);
  options.system_store_path = environment.system_store;
  leave_out_doubtful_paths(options, !store.folder && environment.store_by_default, false);
  return with_absolute_paths(std::move(options));
}

std::unique_ptr<Context> open_context(const StoreChoice& store, const std::string& device) {
  return std::make_unique<Context>(context_options(store, device), Environment::read());
}

HostContext open_host_context(const StoreChoice& store, const std::string& device, hstu_miss_policy policy) {
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = device.c_str();
  options.miss_policy = policy;
  options.store_path = store.folder ? store.folder->c_str() : nullptr;
  hstu_context* context = nullptr;
  const hstu_status status = hstu_context_create(&context, &options);
  if (status != HSTU_OK) fail(status, "{}", hstu_last_error());
  return HostContext(context);
}

std::unique_ptr<Traffic> traffic_of(Workload workload) {
  auto traffic = std::make_unique<Traffic>();
  traffic->workload = std::move(workload);
  traffic->calls = expand(traffic->workload);
  traffic->needs = needs(traffic->calls);
  return traffic;
}

std::unique_ptr<Traffic> load_traffic(const std::string& path) {
  try {
    return traffic_of(read_workload(path));
  } catch (const Error& error) {
    const bool named = error.message().starts_with(path);
    throw UsageError(named ? error.message() : fmt::format("{}: {}", path, error.message()));
  }
}

std::vector<std::string> families_of(Context& context, const std::vector<Problem>& problems) {
  std::set<std::string> names;
  for (const Problem& problem : problems) {
    const Plan* plan = context.find(problem);
    names.emplace((plan ? plan->choice : choose(context.records(), problem, context.facts(), false)).family->name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> families_of(Context& context, const Calls& calls) {
  std::vector<Problem> problems;
  for (const std::vector<Call>* part : {&calls.setup, &calls.calls})
    for (const Call& call : *part) problems.push_back(problem_of(call, calls));
  return families_of(context, problems);
}

bool has_gpu() {
  try {
    int count = 0;
    return driver().cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
  } catch (const Error&) { return false; }
}

void require_gpu_name(const std::string& device) { ordinal_of(device); }

int ordinal_of(const std::string& device) {
  if (const auto name = parse_gpu_name(device)) return name->ordinal;
  throw UsageError(fmt::format(
      "--device {}: this needs a GPU, cuda or cuda:N, or cuda@sm_80 for kernels of that generation", device));
}

}  // namespace hstujit::tool
