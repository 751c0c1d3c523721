#include "support/device_call.hpp"

#include "capi/handle.hpp"
#include "support/error.hpp"
#include "workload/stack.hpp"

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

DeviceSlabs::DeviceSlabs(HostMemory& memory) : memory_(memory), there_(test_device()->memory()) {
  for (const Slab& slab : memory.slabs()) {
    // Bytes before the slab's aligned base stay out, so that the copy's tensors are aligned as the host's.
    copies_.push_back(static_cast<std::byte*>(there_->allocate(slab.bytes.size())));
    there_->upload(copies_.back(), slab.bytes.data() + slab.first % 256, slab.bytes.size() - slab.first % 256);
  }
}

void* DeviceSlabs::copy_of(void* host) const {
  const int index = host ? slab_of(host) : -1;
  if (index < 0) return host;
  const Slab& slab = memory_.slabs()[static_cast<size_t>(index)];
  return copies_[static_cast<size_t>(index)] +
         (static_cast<std::byte*>(host) - slab.bytes.data() - static_cast<int64_t>(slab.first % 256));
}

void DeviceSlabs::fetch() {
  there_->synchronise();
  after_.assign(memory_.slabs().begin(), memory_.slabs().end());
  for (size_t i = 0; i < after_.size(); ++i) {
    std::vector<std::byte>& bytes = after_[i].bytes;
    const size_t skipped = after_[i].first % 256;
    there_->download(bytes.data() + skipped, copies_[i], bytes.size() - skipped);
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

DeviceCall::DeviceCall(HostMemory& memory, Op op, const void* args, const Launcher& launcher) : DeviceSlabs(memory) {
  const Operator& entry = operator_of(op);
  std::vector<std::byte> moved(static_cast<const std::byte*>(args),
                               static_cast<const std::byte*>(args) + entry.args_size);
  for (const TensorSlot& slot : entry.tensors) {
    hstu_tensor& t = tensor_at(moved.data(), slot);
    t.data = copy_of(t.data);
  }
  status_ = launcher ? launcher(moved.data()) : call_operator(test_device()->context, op, moved.data(), nullptr);
  if (status_ != HSTU_OK) error_ = hstu_last_error();
  fetch();
}

}  // namespace hstujit::test
