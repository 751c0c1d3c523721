// verify: runs golden cases through the C API on the CPU or a GPU, a line per case.
#include "hstu_tune/command.hpp"
#include "support/error.hpp"
#include "verify/golden.hpp"
#include "workload/memory.hpp"
#include "workload/stack.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace hstujit::tool {
namespace {

struct Options {
  std::string goldens, device = "cpu";
  bool widened = false;
  StoreChoice store;
};

void call(hstu_context* context, const Operator& op, const void* args) {
  const hstu_status status = call_operator(context, op.op, args, nullptr);
  if (status != HSTU_OK) fail(status, "{}", hstu_last_error());
}

/// One call on copies of the host's tensors in device memory. Tensors that share data share their copy.
void call_on_gpu(hstu_context* context, const Driver& driver, int ordinal, const Operator& op, void* args) {
  const std::unique_ptr<Memory> memory = gpu_memory(driver, ordinal);
  std::vector<std::byte> normalised(op.args_size), moved(op.args_size);  // the former for its strides
  std::memcpy(normalised.data(), args, op.args_size);
  std::memcpy(moved.data(), args, op.args_size);
  op.prepare(normalised.data());
  std::map<void*, void*> copies;
  for (const TensorSlot& slot : op.tensors) {
    const hstu_tensor& tensor = tensor_at(normalised.data(), slot);
    if (!present(tensor)) continue;
    const auto bytes = static_cast<size_t>(extent_bytes(tensor));
    void*& copy = copies[tensor.data];
    if (!copy) copy = memory->allocate(bytes);
    if (bytes > 0) memory->upload(copy, tensor.data, bytes);
    tensor_at(moved.data(), slot).data = copy;
  }
  if (op.workspace)
    workspace_at(moved.data(), *op.workspace) = memory->allocate(workspace_size_at(moved.data(), *op.workspace));
  call(context, op, moved.data());
  memory->synchronise();
  for (const TensorSlot& slot : op.tensors) {
    const hstu_tensor& tensor = tensor_at(normalised.data(), slot);
    const auto bytes = static_cast<size_t>(extent_bytes(tensor));
    if (slot.role == TensorRole::output && bytes > 0) memory->download(tensor.data, copies[tensor.data], bytes);
  }
}

verify::Executor executor(hstu_context* context, const std::string& device) {
  if (device == "cpu") return [context](const Operator& op, void* args) { call(context, op, args); };
  return [context, ordinal = ordinal_of(device)](const Operator& op, void* args) {
    call_on_gpu(context, driver(), ordinal, op, args);
  };
}

void print_case(const verify::CaseResult& one) {
  const char* const words[] = {"passed", "FAILED", "skipped"};
  std::string errors;
  for (const verify::OutputError& output : one.outputs)
    errors +=
        fmt::format("{}{} {:.2e} (at most {:.1e}), an element {:.2e} (at most {:.1e})", errors.empty() ? "" : ", ",
                    output.name, output.error, output.tolerance, output.element_error, output.element_tolerance);
  fmt::print("{:<8} {}/{}  {}{}{}\n", words[static_cast<int>(one.outcome)], one.op, one.name, errors,
             errors.empty() || one.reason.empty() ? "" : "; ", one.reason);
}

int execute(const Options& options) {
  if (!std::filesystem::is_directory(options.goldens)) throw UsageError(options.goldens + ": no such folder");
  if (options.device != "cpu") require_gpu_name(options.device);
  const HostContext context = open_host_context(options.store, options.device);
  const auto precision = options.widened ? verify::Precision::f32 : verify::Precision::as_stored;
  const auto results = verify::run_goldens(options.goldens, executor(context.get(), options.device), precision);
  int64_t counts[3] = {};
  for (const verify::CaseResult& one : results) {
    print_case(one);
    ++counts[static_cast<int>(one.outcome)];
  }
  fmt::print("{} passed, {} failed, {} skipped\n", counts[0], counts[1], counts[2]);
  return counts[1] == 0 ? 0 : 1;
}

}  // namespace

void add_verify(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("verify", "Run golden cases and compare");
  command.option("--goldens", options->goldens, "Folder of .safetensors cases").required();
  command.option("--device", options->device, "cpu, cuda or cuda:N").shows_default();
  command.flag("--f32", options->widened, "Widen floating-point inputs to f32: the tight check, on cpu");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
