// Tensors of more than 2^31 elements, or as many as change what is chosen, for tests on the device. Inputs repeat with
// a period of rows, so results do, too, and a call of one period is the truth.
#pragma once

#include "support/device_call.hpp"
#include "support/error.hpp"
#include "workload/stack.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hstujit::test {

/// Allocates, or throws the OUT_OF_MEMORY that makes these tests skip themselves.
class LargeMemory {
 public:
  LargeMemory() : memory_(test_device()->memory()) {}

  std::byte* allocate(int64_t bytes) { return static_cast<std::byte*>(memory_->allocate(static_cast<size_t>(bytes))); }

  /// Rows of a dense host matrix into (or out of) rows of the device that lie `stride` elements apart.
  void upload_rows(std::byte* to, const hstu_tensor& from, int64_t stride);
  void download_rows(const hstu_tensor& to, const std::byte* from, int64_t stride);
  Memory& operator*() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

/// Runs a test's body; skips the test where the device is too small for it.
template <class Body>
void unless_too_small(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.status() != HSTU_ERROR_OUT_OF_MEMORY) throw;
    GTEST_SKIP() << error.message();
  }
}

/// A tensor of `rows` rows on the device that repeats the host's.
hstu_tensor repeated(LargeMemory& memory, const hstu_tensor& host, int64_t rows);

/// Whole periods of `large` that hold its first and last row and the rows where 32-bit offsets would wrap. `period` is
/// the host's, and is overwritten.
void expect_periods(LargeMemory& memory, const hstu_tensor& large, const hstu_tensor& period, const Exact& exact,
                    const Tolerance& tolerance);

/// Makes the large call and compares periods of each output with the call of one period, whose outputs are overwritten.
template <class Args>
void expect_large(LargeMemory& memory, const Args& large, const Args& period,
                  const std::vector<Expected<Args>>& outputs) {
  ASSERT_EQ(call_operator(test_device()->context, op_of<Args>(), &large, nullptr), HSTU_OK) << hstu_last_error();
  (*memory).synchronise();
  const std::vector<Exact> exact = exact_results(period, outputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    expect_periods(memory, large.*outputs[i].output, period.*outputs[i].output, exact[i], outputs[i].tolerance);
}

template <class Args>
void expect_large(LargeMemory& memory, const Args& large, const Args& period, hstu_tensor Args::*output,
                  const Tolerance& tolerance) {
  expect_large(memory, large, period, {{.output = output, .tolerance = tolerance}});
}

/// What the library chooses for the call: "layer_norm_sm80 threads=64 ... (default)".
std::string choice_for(const Problem& problem);
template <class Args>
std::string choice_for(Args args) {
  return choice_for(prepare(args));
}

/// Rows of this length that make more than 2^31 elements, in whole periods.
int64_t many_rows(int64_t row_length, int64_t period);

/// Sequences that come back in every period, and the offsets of one period and of all.
struct PeriodicSequences {
  PeriodicSequences(HostMemory& host, int64_t rows, const std::vector<int64_t>& lengths = {300, 0, 700});
  hstu_tensor one, many;
};

}  // namespace hstujit::test

#define HSTU_NEEDS_LARGE_DEVICE() \
  HSTU_NEEDS_RESULTS();           \
  if (hstujit::test::test_device()->cpu) GTEST_SKIP() << "the reference would take minutes"
