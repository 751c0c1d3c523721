// Upstream's own results against the device, in the types the cases are stored in.
#include "support/device_call.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"
#include "verify/golden.hpp"
#include "workload/stack.hpp"

namespace hstujit {
namespace {

/// Makes the call through the C API on copies in the device's memory, gaps between rows included.
void call_on_device(const Operator& op, void* args) {
  const test::TestDevice& device = *test::test_device();
  const std::unique_ptr<Memory> memory = device.memory();
  std::vector<std::byte> moved(static_cast<std::byte*>(args), static_cast<std::byte*>(args) + op.args_size);
  for (const TensorSlot& slot : op.tensors) {
    hstu_tensor& t = tensor_at(moved.data(), slot);
    if (!present(t)) continue;
    const auto bytes = static_cast<size_t>(extent_bytes(t));
    void* const copy = memory->allocate(bytes);
    memory->upload(copy, t.data, bytes);
    t.data = copy;
  }
  if (op.workspace)
    workspace_at(moved.data(), *op.workspace) = memory->allocate(workspace_size_at(moved.data(), *op.workspace));
  const hstu_status status = call_operator(device.context, op.op, moved.data(), nullptr);
  if (status != HSTU_OK) fail(status, "{}", hstu_last_error());
  memory->synchronise();
  for (const TensorSlot& slot : op.tensors) {
    const hstu_tensor& t = tensor_at(args, slot);
    if (slot.role == TensorRole::output)
      memory->download(t.data, tensor_at(moved.data(), slot).data, static_cast<size_t>(extent_bytes(t)));
  }
}

TEST(GoldensOnDevice, AllKnownOperatorsPass) {
  HSTU_NEEDS_DEVICE();
  const auto results =
      verify::run_goldens(test::source_dir() / "tests/golden/data", call_on_device, verify::Precision::as_stored);
  if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
  int passed = 0;
  for (const verify::CaseResult& result : results) {
    EXPECT_NE(result.outcome, verify::Outcome::failed) << result.op << "/" << result.name << ": " << result.reason;
    passed += result.outcome == verify::Outcome::passed;
  }
  EXPECT_EQ(passed, 92);
}

}  // namespace
}  // namespace hstujit
