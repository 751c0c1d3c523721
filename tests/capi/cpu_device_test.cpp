// What the device "cpu" promises: integers that lead outside of a tensor are refused with the tensor's name before
// anything is read or written through them, and all others do as the headers say.
#include "support/small_calls.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace hstujit {
namespace {

using test::SmallCall;

class CpuDevice : public testing::Test {
 public:
  CpuDevice() {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.store_path = "";
    EXPECT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
  }
  ~CpuDevice() override { hstu_context_destroy(context_); }

  hstu_status run(const Operator& op, const ArgsBytes& args) const {
    return call_operator(context_, op.op, args.data(), nullptr);
  }
  hstu_status run(const SmallCall& call) const { return run(call.op(), call.args()); }
  template <class Args>
  hstu_status run(const Args& args) const {
    return call_operator(context_, op_of<Args>(), &args, nullptr);
  }

  /// Calls body with every integer tensor of every small call, on memory of its own each time.
  template <class Body>
  static void for_each_integer_tensor(const Body& body) {
    for (const Calls& calls : test::small_calls())
      for (const TensorSlot& slot : operator_of(calls.calls[0].op).tensors) {
        if (slot.role != TensorRole::integer || SmallCall(calls).count(slot) == 0) continue;
        SCOPED_TRACE(calls.name + ": " + std::string(slot.name));
        body(calls, slot);
      }
  }

 private:
  hstu_context* context_ = nullptr;
};

int64_t least_of(const SmallCall& call, const TensorSlot& slot) {
  auto args = call.args();
  return tensor_at(static_cast<void*>(args.data()), slot).dtype == HSTU_DTYPE_I32 ? std::numeric_limits<int32_t>::min()
                                                                                  : std::numeric_limits<int64_t>::min();
}
int64_t most_of(const SmallCall& call, const TensorSlot& slot) { return -1 - least_of(call, slot); }

bool holds_offsets(std::string_view name) { return name.find("offsets") != std::string_view::npos; }
bool holds_lengths(std::string_view name) { return name.starts_with("lengths"); }
bool counts_rows(std::string_view name) { return name == "num_targets" || name == "num_contexts"; }

/// The element becomes `value`: the call is refused by the tensor's name and has written nothing.
void expect_refused(const CpuDevice& cpu, const Calls& calls, const TensorSlot& slot, int64_t index, int64_t value) {
  SmallCall call(calls);
  call.set(slot, index, value);
  const auto before = call.outputs();
  EXPECT_EQ(cpu.run(call), HSTU_ERROR_INVALID_ARGUMENT) << "[" << index << "] = " << value;
  EXPECT_NE(std::string(hstu_last_error()).find(slot.name), std::string::npos)
      << "[" << index << "] = " << value << ": " << hstu_last_error();
  EXPECT_EQ(call.outputs(), before) << "[" << index << "] = " << value;
}

TEST_F(CpuDevice, SmallCallsAreOfAllOperatorsAndRun) {
  std::set<Op> seen;
  for (const Calls& calls : test::small_calls()) {
    const SmallCall call(calls);
    EXPECT_EQ(run(call), HSTU_OK) << calls.name << ": " << hstu_last_error();
    seen.insert(call.op().op);
  }
  EXPECT_EQ(seen.size(), operators().size());
}

TEST_F(CpuDevice, RefusesOffsetsThatLeadOutside) {
  int tensors = 0;
  for_each_integer_tensor([&](const Calls& calls, const TensorSlot& slot) {
    if (!holds_offsets(slot.name)) return;
    ++tensors;
    const SmallCall like(calls);
    const int64_t last = like.count(slot) - 1, total = like.get(slot, last), least = least_of(like, slot);
    for (const int64_t value : {int64_t{-1}, least}) {
      expect_refused(*this, calls, slot, 0, value);
      expect_refused(*this, calls, slot, 1, value);
      expect_refused(*this, calls, slot, last, value);
    }
    expect_refused(*this, calls, slot, 0, total + 1);
    expect_refused(*this, calls, slot, 1, total + 1);
    expect_refused(*this, calls, slot, 1, most_of(like, slot));
    expect_refused(*this, calls, slot, last, like.get(slot, 1) - 1);
    if (calls.calls[0].op == Op::sort_by_length) return;  // whose sequences may have any number of rows
    expect_refused(*this, calls, slot, last, total + 1);
    expect_refused(*this, calls, slot, last, most_of(like, slot));
  });
  EXPECT_GE(tensors, 20);
}

TEST_F(CpuDevice, RefusesLengthsThatLeadOutside) {
  int tensors = 0;
  for_each_integer_tensor([&](const Calls& calls, const TensorSlot& slot) {
    if (!holds_lengths(slot.name)) return;
    ++tensors;
    const SmallCall like(calls);
    for (int64_t b = 0; b < like.count(slot); ++b)
      for (const int64_t value : {int64_t{-1}, least_of(like, slot), like.get(slot, b) + 1, most_of(like, slot)})
        expect_refused(*this, calls, slot, b, value);
    if (calls.calls[0].op == Op::jagged_remove_first_or_last_1d) {  // every sequence has an element to lose
      SmallCall call(calls);
      call.set(slot, 0, like.get(slot, 0) + like.get(slot, 1));
      call.set(slot, 1, 0);
      const auto before = call.outputs();
      EXPECT_EQ(run(call), HSTU_ERROR_INVALID_ARGUMENT);
      EXPECT_NE(std::string(hstu_last_error()).find("lengths[1] = 0"), std::string::npos) << hstu_last_error();
      EXPECT_EQ(call.outputs(), before);
    }
  });
  EXPECT_GE(tensors, 8);
}

TEST_F(CpuDevice, RefusesPagesThatAreNot) {
  int tensors = 0;
  for_each_integer_tensor([&](const Calls& calls, const TensorSlot& slot) {
    const bool ids = slot.name == "page_ids";
    if (!ids && slot.name != "last_page_lens") return;
    ++tensors;
    const SmallCall like(calls);
    auto args = like.args();
    hstu_tensor cache{};
    for (const TensorSlot& other : like.op().tensors)
      if (other.name == "k_cache") cache = tensor_at(static_cast<void*>(args.data()), other);
    const int64_t beyond = ids ? cache.shape[0] : cache.shape[1] + 1;  // pages; rows of one
    for (const int64_t value : {int64_t{-1}, least_of(like, slot), beyond, most_of(like, slot)}) {
      expect_refused(*this, calls, slot, 0, value);
      expect_refused(*this, calls, slot, like.count(slot) - 1, value);
    }
  });
  EXPECT_EQ(tensors, 5);
}

TEST_F(CpuDevice, RefusesNegativeNumbersOfRows) {
  int tensors = 0;
  for_each_integer_tensor([&](const Calls& calls, const TensorSlot& slot) {
    if (!counts_rows(slot.name)) return;
    ++tensors;
    const SmallCall like(calls);
    for (int64_t b = 0; b < like.count(slot); ++b)
      for (const int64_t value : {int64_t{-1}, least_of(like, slot)}) expect_refused(*this, calls, slot, b, value);
  });
  EXPECT_GE(tensors, 12);
}

TEST_F(CpuDevice, TakesAsManyTargetsAndContextualRowsAsOneLikes) {
  for_each_integer_tensor([&](const Calls& calls, const TensorSlot& slot) {
    if (!counts_rows(slot.name)) return;
    const bool limited = calls.calls[0].op == Op::paged_attention && slot.name == "num_targets";
    for (int64_t b = 0; b < SmallCall(calls).count(slot); ++b) {
      if (limited) {  // only new rows are targets
        expect_refused(*this, calls, slot, b, most_of(SmallCall(calls), slot));
        continue;
      }
      SmallCall some(calls), most(calls);
      some.set(slot, b, 1000);  // no sequence has so many rows
      most.set(slot, b, most_of(most, slot));
      ASSERT_EQ(run(some), HSTU_OK) << hstu_last_error();
      ASSERT_EQ(run(most), HSTU_OK) << hstu_last_error();
      EXPECT_EQ(most.outputs(), some.outputs()) << "[" << b << "]";
    }
  });
}

/// Times, intervals and the number of valid rows may hold anything.
TEST_F(CpuDevice, TakesAllOtherIntegers) {
  int tensors = 0;
  for_each_integer_tensor([&](const Calls& calls, const TensorSlot& slot) {
    if (holds_offsets(slot.name) || holds_lengths(slot.name) || counts_rows(slot.name) ||
        slot.name.find("page") != std::string_view::npos)
      return;
    ++tensors;
    SmallCall call(calls);
    const int64_t least = least_of(call, slot), most = most_of(call, slot);
    for (int64_t i = 0; i < call.count(slot); ++i) call.set(slot, i, i % 3 == 0 ? least : i % 3 == 1 ? most : -i);
    EXPECT_EQ(run(call), HSTU_OK) << hstu_last_error();
  });
  EXPECT_EQ(tensors, 6);
}

// ---- Without columns there is nothing to do, however many rows there are

constexpr int64_t kManyRows = int64_t{1} << 40;

TEST_F(CpuDevice, ReturnsAtOnceFromRowsWithoutColumns) {
  auto amax = sized<hstu_fp8_amax_args>();
  std::vector<float> parts(HSTU_FP8_AMAX_PARTS, -1);
  amax.x = hstu_matrix(nullptr, HSTU_DTYPE_BF16, kManyRows, 0);
  amax.amax = hstu_vector(parts.data(), HSTU_DTYPE_F32, HSTU_FP8_AMAX_PARTS);
  EXPECT_EQ(run(amax), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(parts, std::vector<float>(HSTU_FP8_AMAX_PARTS, 0));

  auto quantise = sized<hstu_quantize_fp8_args>();
  float descale = -1;
  quantise.x = hstu_matrix(nullptr, HSTU_DTYPE_BF16, kManyRows, 0);
  quantise.q = hstu_matrix(nullptr, HSTU_DTYPE_E4M3, kManyRows, 0);
  quantise.descale = hstu_vector(&descale, HSTU_DTYPE_F32, 1);
  quantise.amax = amax.amax;
  EXPECT_EQ(run(quantise), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(descale, 1e-12f / 448);

  auto truncate = sized<hstu_jagged_truncate_history_args>();
  int64_t offsets[] = {0, kManyRows}, out_offsets[] = {-1, -1};
  truncate.values = hstu_matrix(nullptr, HSTU_DTYPE_F32, kManyRows, 0);
  truncate.out = hstu_matrix(nullptr, HSTU_DTYPE_F32, kManyRows, 0);
  truncate.seq_offsets = hstu_vector(offsets, HSTU_DTYPE_I64, 2);
  truncate.out_offsets = hstu_vector(out_offsets, HSTU_DTYPE_I64, 2);
  truncate.keep = kManyRows / 2;
  EXPECT_EQ(run(truncate), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(out_offsets[1], kManyRows / 2);
}

/// Elements of the floating-point tensors vanish, and the rows of matrices become many: whatever prepare() lets pass
/// must not take its time over them.
TEST_F(CpuDevice, ReturnsAtOnceFromEverythingEmpty) {
  int ran = 0;
  for (const Calls& calls : test::small_calls()) {
    const SmallCall call(calls);
    auto args = call.args();
    for (const TensorSlot& slot : call.op().tensors) {
      hstu_tensor& t = tensor_at(static_cast<void*>(args.data()), slot);
      if (slot.role == TensorRole::integer || t.rank < 2) continue;
      std::fill_n(t.stride, t.rank, 0);
      t.shape[0] = kManyRows;
      t.shape[t.rank - 1] = 0;
    }
    ran += run(call.op(), args) == HSTU_OK;
  }
  EXPECT_GE(ran, 3);
}

}  // namespace
}  // namespace hstujit
