#include "support/device_call.hpp"

#include "capi/handle.hpp"
#include "support/error.hpp"
#include "workload/stack.hpp"

#include <algorithm>
#include <cstdlib>

namespace hstujit::test {
namespace {

const TestDevice* open() {
  const char* const asked = std::getenv("HSTUJIT_TEST_DEVICE");
  const std::string store = store_of_tests();
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = asked ? asked : "cuda:0";
  options.store_path = store.c_str();
  options.system_store_path = "";
  static TestDevice device;
  device.cpu = std::string_view(options.device) == "cpu";
  device.compile_only = std::string_view(options.device).starts_with("sm_");
  return hstu_context_create(&device.context, &options) == HSTU_OK ? &device : nullptr;
}

std::vector<hstu_tensor> tensors_of(Op op, const void* args) {
  std::vector<hstu_tensor> out;
  for (const TensorSlot& slot : operator_of(op).tensors)
    if (const hstu_tensor& t = tensor_at(args, slot); present(t)) out.push_back(t);
  return out;
}

}  // namespace

const TestDevice* test_device() {
  static const TestDevice* const opened = open();
  return opened;
}

const DeviceFacts& TestDevice::facts() const { return context->context.facts(); }

bool device_covers(const Problem& problem) { return test_device()->cpu || is_covered(problem, test_device()->facts()); }

std::unique_ptr<Memory> TestDevice::memory() const {
  return cpu || compile_only ? host_memory() : gpu_memory(driver(), 0);
}

bool exact_memory() { return std::getenv("HSTUJIT_TEST_EXACT") != nullptr; }

CopiedBytes copied_bytes(const Slab& slab, const std::vector<hstu_tensor>& tensors) {
  if (!exact_memory()) {
    // Bytes before the slab's aligned base stay out, so that the copy's tensors are aligned as the host's.
    const size_t skipped = slab.first % 256;
    return {skipped, slab.bytes.size() - skipped};
  }
  const std::byte *begin = slab.bytes.data(), *end = begin + slab.bytes.size();
  int64_t last = -1;
  for (const hstu_tensor& t : tensors) {
    const auto* const data = static_cast<const std::byte*>(t.data);
    if (data >= begin && data < end) last = std::max(last, data - begin + extent_bytes(t));
  }
  return {slab.first, last < 0 ? slab.used : static_cast<size_t>(last) - slab.first};
}

DeviceSlabs::DeviceSlabs(HostMemory& memory, const std::vector<hstu_tensor>& tensors)
    : memory_(memory), there_(test_device()->memory()) {
  for (const Slab& slab : memory.slabs()) {
    const CopiedBytes& part = copied_.emplace_back(copied_bytes(slab, tensors));
    copies_.push_back(static_cast<std::byte*>(there_->allocate(part.count)));
    if (part.count > 0) there_->upload(copies_.back(), slab.bytes.data() + part.first, part.count);
  }
}

void* DeviceSlabs::copy_of(void* host) const {
  const int found = host ? slab_of(host) : -1;
  if (found < 0) return host;
  const auto index = static_cast<size_t>(found);
  return copies_[index] + (static_cast<std::byte*>(host) - memory_.slabs()[index].bytes.data() -
                           static_cast<int64_t>(copied_[index].first));
}

void* DeviceSlabs::poisoned(size_t bytes) {
  void* const memory = there_->allocate(bytes);
  const std::vector<std::byte> ones(bytes, std::byte{0xff});
  if (bytes > 0) there_->upload(memory, ones.data(), bytes);
  return memory;
}

void DeviceSlabs::fetch() {
  there_->synchronise();
  after_.assign(memory_.slabs().begin(), memory_.slabs().end());
  for (size_t i = 0; i < after_.size(); ++i) {
    const CopiedBytes& part = copied_[i];
    if (part.count > 0) there_->download(after_[i].bytes.data() + part.first, copies_[i], part.count);
  }
  there_.reset();
}

int DeviceSlabs::slab_of(const void* address) const {
  int index = 0;
  for (const Slab& slab : memory_.slabs()) {
    if (address >= slab.bytes.data() && address < slab.bytes.data() + slab.bytes.size()) return index;
    ++index;
  }
  return -1;
}

hstu_tensor DeviceSlabs::after(const hstu_tensor& t) {
  const auto index = static_cast<size_t>(slab_of(t.data));
  const auto offset = static_cast<const std::byte*>(t.data) - memory_.slabs()[index].bytes.data();
  hstu_tensor out = t;
  out.data = after_[index].bytes.data() + offset;
  return out;
}

testing::AssertionResult DeviceSlabs::wrote_only(const std::vector<hstu_tensor>& tensors) {
  for (size_t i = 0; i < after_.size(); ++i)
    if (const auto result = unchanged_around(tensors, memory_.slabs()[i], after_[i]); !result) return result;
  return testing::AssertionSuccess();
}

DeviceCall::DeviceCall(HostMemory& memory, Op op, const void* args, const Launcher& launcher)
    : DeviceSlabs(memory, tensors_of(op, args)) {
  const Operator& entry = operator_of(op);
  std::vector<std::byte> moved(static_cast<const std::byte*>(args),
                               static_cast<const std::byte*>(args) + entry.args_size);
  for (const TensorSlot& slot : entry.tensors) {
    hstu_tensor& t = tensor_at(moved.data(), slot);
    t.data = copy_of(t.data);
  }
  if (entry.workspace) {  // memory of its own, as large as the call says and full of ones
    const size_t bytes = workspace_size_at(moved.data(), *entry.workspace);
    workspace_at(moved.data(), *entry.workspace) = poisoned(bytes);
  }
  status_ = launcher ? launcher(moved.data()) : call_operator(test_device()->context, op, moved.data(), nullptr);
  if (status_ != HSTU_OK) error_ = hstu_last_error();
  fetch();
}

}  // namespace hstujit::test
