// Calls of the public C API on the device under test, checked against the oracle: results, and everything else in
// memory, which must be as it was.
#pragma once

#include "support/checked_operators.hpp"
#include "support/family_call.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"
#include "workload/memory.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace hstujit::test {

/// The device under test: $HSTUJIT_TEST_DEVICE, by default "cuda:0". "cpu" tries the tests themselves, on the
/// reference; "sm_90a" and its like only compile what they need. It lives as long as the process and keeps kernels in
/// memory only, or in the folder $HSTUJIT_TEST_STORE: filled where there is no GPU, it saves most of the time on one.
struct TestDevice {
  hstu_context* context = nullptr;
  bool cpu = false;
  bool compile_only = false;

  const DeviceFacts& facts() const;
  std::unique_ptr<Memory> memory() const;
};
/// Null when there is no such device.
const TestDevice* test_device();
/// Whether it has the operator, of those that not all devices have.
bool device_covers(const Problem& problem);
template <class Args>
bool device_takes(Args args) {
  return device_covers(prepare(args));
}

/// Whether each tensor on the device has memory of its own that ends with its last element: $HSTUJIT_TEST_EXACT. Then
/// memcheck sees one element too far, which guard bands hide from it, and writes around tensors are memcheck's to find.
bool exact_memory();

/// Which of a slab's bytes the device gets: from its base on, with guard bands or, with exact_memory(), to the end of
/// those of the tensors that lie in it, or of the whole slab where none does.
struct CopiedBytes {
  size_t first, count;
};
CopiedBytes copied_bytes(const Slab& slab, const std::vector<hstu_tensor>& tensors);

/// Copies of all slabs of a test's memory on the device under test. The host's own stay as they are.
class DeviceSlabs {
 public:
  /// tensors: those of the call, as far as they lie in the slabs; without them slabs are copied whole.
  explicit DeviceSlabs(HostMemory& memory, const std::vector<hstu_tensor>& tensors = {});

  /// The copy of what lies at this address of the host; addresses outside the slabs stay.
  void* copy_of(void* host) const;
  /// Waits for the device and brings the slabs back; the copies are given up.
  void fetch();
  /// The tensor, which points into the host's memory, as it was fetched.
  hstu_tensor after(const hstu_tensor& t);
  /// Nothing but the tensors' elements was written.
  testing::AssertionResult wrote_only(const std::vector<hstu_tensor>& tensors);
  testing::AssertionResult wrote_only(const hstu_tensor& t) { return wrote_only(std::vector<hstu_tensor>{t}); }

 protected:
  /// Memory beside the slabs', until fetch().
  void* poisoned(size_t bytes);

 private:
  /// Index of the slab that holds the address; -1 when none does.
  int slab_of(const void* address) const;

  HostMemory& memory_;
  std::unique_ptr<Memory> there_;
  std::vector<CopiedBytes> copied_;
  std::vector<std::byte*> copies_;  ///< of copied_
  std::vector<Slab> after_;
};

/// A call on copies of all slabs of a test's memory, by default through the C API.
class DeviceCall : public DeviceSlabs {
 public:
  DeviceCall(HostMemory& memory, Op op, const void* args, const Launcher& launcher = {});

  hstu_status status() const { return status_; }
  const std::string& error() const { return error_; }

 private:
  hstu_status status_ = HSTU_OK;
  std::string error_;
};

/// One output of a call and how exact it must be.
template <class Args>
struct Expected {
  hstu_tensor Args::*output;
  Tolerance tolerance;
  Exact allowance{};  ///< as close() takes it
};

/// Compares the outputs of one call, all of them, with the oracle's.
template <class Args>
void expect_correct(DeviceCall& call, const Args& args, const std::vector<Expected<Args>>& outputs,
                    const std::vector<Exact>& exact) {
  std::vector<hstu_tensor> written;
  for (size_t i = 0; i < outputs.size(); ++i) {
    written.push_back(args.*outputs[i].output);
    EXPECT_TRUE(close(call.after(written.back()), exact[i], outputs[i].tolerance, outputs[i].allowance));
  }
  EXPECT_TRUE(call.wrote_only(written));
}

/// The oracle of all outputs.
template <class Args>
std::vector<Exact> exact_results(const Args& args, const std::vector<Expected<Args>>& outputs) {
  std::vector<hstu_tensor Args::*> members;
  for (const Expected<Args>& expected : outputs) members.push_back(expected.output);
  return exact_results(args, members);
}

/// Makes the call on the device under test, by the family that the library chooses and then by each other that covers
/// it, and compares the outputs with the oracle. All tensors lie in `memory`.
template <class Args>
void expect_correct(HostMemory& memory, const Args& args, const std::vector<Expected<Args>>& outputs) {
  static_cast<void>(notes_operator<Check::oracle, Args>);
  ASSERT_FALSE(outputs.empty()) << "nothing to compare";
  const TestDevice& device = *test_device();
  DeviceCall call(memory, op_of<Args>(), &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  Args prepared = args;
  const Problem problem = prepare(prepared);
  const auto others = device.cpu ? std::vector<const Family*>{} : other_families(problem, device.facts());
  if (device.compile_only) {
    for (const Family* other : others)
      compiled(*other, problem, other->default_config(problem, device.facts()), device.facts());
    GTEST_SKIP() << "compiled, not run";
  }
  const std::vector<Exact> exact = exact_results(args, outputs);
  expect_correct(call, args, outputs, exact);
  for (const Family* other : others) {
    SCOPED_TRACE(other->name);
    const Config config = other->default_config(problem, device.facts());
    const auto kernel =
        loaded(compiled(*other, problem, config, device.facts()), other->resources(problem, config).smem_bytes);
    DeviceCall again(memory, op_of<Args>(), &args, launcher_of<Args>(*other, config, kernel, device.facts()));
    expect_correct(again, args, outputs, exact);
  }
}

template <class Args>
void expect_correct(HostMemory& memory, const Args& args, hstu_tensor Args::*output, const Tolerance& tolerance) {
  expect_correct(memory, args, {{output, tolerance}});
}

/// Of a result in parts, of which all but the first may be absent.
template <class Args>
void expect_correct(HostMemory& memory, const Args& args, std::initializer_list<hstu_tensor Args::*> parts,
                    const Tolerance& tolerance) {
  std::vector<Expected<Args>> outputs;
  for (const auto part : parts)
    if (present(args.*part)) outputs.push_back({part, tolerance});
  expect_correct(memory, args, outputs);
}

/// Makes the call on the device under test and the reference's behind it: both leave the same bits in the outputs, and
/// the device nothing else.
template <class Args>
void expect_same_bits(HostMemory& memory, Args args, const std::vector<hstu_tensor>& outputs) {
  static_cast<void>(notes_operator<Check::oracle, Args>);
  args.struct_size = sizeof args;
  DeviceCall call(memory, op_of<Args>(), &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  if (test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
  EXPECT_TRUE(call.wrote_only(outputs));
  prepare(args);
  reference::run(args);
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(std::memcmp(call.after(outputs[i]).data, outputs[i].data, static_cast<size_t>(extent_bytes(outputs[i]))),
              0)
        << "output " << i;
}

}  // namespace hstujit::test

#define HSTU_NEEDS_DEVICE() \
  if (!hstujit::test::test_device()) GTEST_SKIP() << "there is no GPU"
/// For operators that only some devices have.
#define HSTU_NEEDS_DEVICE_THAT_TAKES(args) \
  HSTU_NEEDS_DEVICE();                     \
  if (!hstujit::test::device_takes(args)) GTEST_SKIP() << "not on this device"
/// For tests that look at results themselves.
#define HSTU_NEEDS_RESULTS() \
  HSTU_NEEDS_DEVICE();       \
  if (hstujit::test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run"
