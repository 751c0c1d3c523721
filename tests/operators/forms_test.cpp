// operators/forms.hpp against prepare(): sample calls of every operator are changed in one member at a time, and what
// prepare() then takes must be what the member's form says. Without memory: addresses are made up.
#include "support/error.hpp"
#include "support/moving.hpp"
#include "support/small_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace hstujit {
namespace {

// What neither the small calls nor those of the figures have: the ends of each form.
constexpr const char* kDocument = R"j({"format": "hstujit-workload-1", "name": "forms", "dtype": "f32",
"operators": [
{"op": "attention", "mask": "intervals", "max_seq_len": 5, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": 4}},
  "intervals": {"dtype": "i32", "values": {"batch": 72, "lengths": 2}, "shape": [2, 3, 12]},
  "q": [12, 2, 8], "k": [12, 2, 8], "v": [12, 2, 4], "out": [12, 2, 4], "rab": [3, 2, 5, 5]}},
{"op": "attention_fp8", "mask": "intervals", "max_seq_len": 5, "scaling": "head", "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": 4}},
  "intervals": {"dtype": "i32", "values": {"batch": 72, "lengths": 2}, "shape": [2, 3, 12]}, "attn_scale": [12],
  "q": {"shape": [12, 2, 16], "dtype": "e4m3"}, "k": {"shape": [12, 2, 16], "dtype": "e4m3"},
  "v": {"shape": [12, 2, 16], "dtype": "e4m3"}, "q_descale": [2], "k_descale": [2], "v_descale": [2],
  "out": {"shape": [12, 2, 16], "dtype": "bf16"}}},
{"op": "delta_attention", "mask": "intervals", "max_seq_len": 5, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": 4}},
  "intervals": {"dtype": "i32", "values": {"batch": 36, "lengths": 2}, "shape": [2, 3, 6]},
  "q": [6, 2, 8], "k": [12, 1, 8], "v": [12, 1, 4], "out": [6, 2, 4]}},
{"op": "paged_attention", "mask": "intervals", "max_seq_len": 9, "tensors": {
  "last_page_lens": {"values": {"batch": 3, "lengths": 2}}, "attn_scale": [6], "rab": [3, 2, 5, 5],
  "intervals": {"dtype": "i32", "values": {"batch": 36, "lengths": 2}, "shape": [2, 3, 6]},
  "q": [6, 2, 8], "out": [6, 2, 4], "k_cache": [5, 2, 2, 8], "v_cache": [5, 2, 2, 4]}},
{"op": "rel_bias", "tensors": {"timestamps": {"values": {"batch": 15, "lengths": 2}, "shape": [3, 5]},
  "position_weights": [2, 9], "time_weights": [2, 7], "rab": [3, 2, 5, 5]}},
{"op": "concat_2d_jagged", "tensors": {"left": [3, 2, 8], "right": [4, 8], "out": [10, 8],
  "offsets_right": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 1, 1]}}}}},
{"op": "split_2d_jagged", "tensors": {"left": [3, 2, 8], "right": [4, 8], "values": [10, 8],
  "offsets_right": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 1, 1]}}}}},
{"op": "split_2d_jagged", "tensors": {"left": [4, 8], "right": [3, 2, 8], "values": [10, 8],
  "offsets_left": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 1, 1]}}}}},
{"op": "jagged_truncate_history", "keep": 1, "tensors": {"values": [12], "out": [12],
  "seq_offsets": {"offsets": {"batch": 3, "lengths": 4}}, "out_offsets": {"shape": [4], "dtype": "i64"}}},
{"op": "layer_norm", "scaling": "group", "tensors": {"x": [3, 300], "out": {"shape": [3, 300], "dtype": "e4m3"},
  "descale": [3, 3]}},
{"op": "rms_norm", "scaling": "group", "tensors": {"x": [3, 300], "out": {"shape": [3, 300], "dtype": "e4m3"},
  "descale": [3, 3]}},
{"op": "rms_norm_rope", "scaling": "group", "tensors": {"x": [2, 3, 300], "weight": [300], "cosine": [3, 4],
  "sine": [3, 4], "out": {"shape": [2, 3, 300], "dtype": "e4m3"}, "descale": [6, 3]}},
{"op": "norm_mul", "norm": "rms", "scaling": "group", "tensors": {"attn": [3, 300], "u": [3, 300], "weight": [300],
  "out": {"shape": [3, 300], "dtype": "e5m2"}, "descale": [3, 3]}},
{"op": "dequantize_fp8", "scaling": "row", "tensors": {"q": {"shape": [3, 8], "dtype": "e4m3"}, "descale": [3],
  "x": [3, 8]}},
{"op": "addmm", "tensors": {"x": [3, 4], "w": [4, 8], "bias": [8], "out": [3, 2], "out1": [3, 2], "out2": [3, 2],
  "out3": [3, 2]}},
{"op": "fp8_gemm", "x_scaling": "group", "w_scaling": "block", "tensors": {
  "x": {"shape": [3, 300], "dtype": "e4m3"}, "w": {"shape": [200, 300], "dtype": "e4m3"}, "x_descale": [3, 3],
  "w_descale": [2, 3], "residual": [3, 200], "out": [3, 50], "out1": [3, 50], "out2": [3, 50], "out3": [3, 50]}},
{"op": "norm_addmm", "tensors": {"x": [3, 4], "norm_weight": [4], "norm_bias": [4], "w": [4, 8], "out": [3, 8]}},
{"op": "norm_addmm", "tensors": {"x": [3, 4], "norm_weight": [4], "norm_bias": [4], "w": [4, 8], "out": [3, 4],
  "out1": [3, 4]}},
{"op": "norm_addmm", "tensors": {"x": [3, 4], "norm_weight": [4], "norm_bias": [4], "w": [4, 8], "out": [3, 4],
  "out1": [3, 2], "out2": [3, 2]}}
]})j";

struct Refusal {
  hstu_status status;
  std::string text;
};

/// A call in today's layout, with every buffer far from every other.
struct Sample {
  const Operator* op;
  ArgsBytes args;

  hstu_tensor& tensor(const TensorSlot& slot) { return tensor_at(static_cast<void*>(args.data()), slot); }
  const TensorSlot* slot_called(std::string_view name) const {
    const auto found = std::ranges::find(op->tensors, name, &TensorSlot::name);
    return found == op->tensors.end() ? nullptr : &*found;
  }
  /// Nothing: it is taken.
  std::optional<Refusal> refusal() const {
    ArgsBytes prepared = args;
    try {
      op->prepare(prepared.data());
      return std::nullopt;
    } catch (const Error& error) { return Refusal{error.status(), error.message()}; }
  }
};

constexpr uintptr_t kApart = uintptr_t{1} << 42;

Sample sample_of(const Operator& op, const void* args) {
  Sample sample{&op, {}};
  std::memcpy(sample.args.data(), args, op.args_size);
  uintptr_t place = kApart;
  for (const TensorSlot& slot : op.tensors)
    if (hstu_tensor& t = sample.tensor(slot); present(t)) t.data = reinterpret_cast<void*>(place += kApart);
  if (op.workspace && workspace_at(sample.args.data(), *op.workspace))
    workspace_at(sample.args.data(), *op.workspace) = reinterpret_cast<void*>(place + kApart);
  return sample;
}

std::vector<Sample> all_samples() {
  std::vector<Sample> all;
  std::vector<Calls> spelled = test::small_calls();
  for (Calls& calls : expand(parse_workload(kDocument))) spelled.push_back(std::move(calls));
  for (const Calls& calls : spelled) {
    const test::SmallCall call(calls);
    all.push_back(sample_of(call.op(), call.args().data()));
    EXPECT_FALSE(all.back().refusal()) << calls.name << ": " << all.back().refusal()->text;
  }
  for (const auto& [op, args] : test::workload_calls()) all.push_back(sample_of(*op, address(args)));
  return all;
}

const std::vector<Sample>& samples_of(Op op) {
  static const auto all = [] {
    std::map<Op, std::vector<Sample>> by_op;
    for (Sample& sample : all_samples()) by_op[sample.op->op].push_back(sample);
    return by_op;
  }();
  return all.at(op);
}

/// Strides as if dimension d had a gap behind each of its elements, and all others none.
void space_out(hstu_tensor& t, int d) {
  t.flags = HSTU_STRIDES_GIVEN;
  int64_t stride = 1;
  for (int e = t.rank - 1; e >= 0; --e) {
    if (e == d) stride = e == t.rank - 1 ? 2 : stride + 16;
    t.stride[e] = stride;
    stride *= t.shape[e];
  }
}

/// The names of the tensors that have the type after this one was given it, where a call is taken: others follow as
/// the messages ask.
std::set<std::string> taken_with(Sample sample, const TensorSlot& slot, hstu_dtype dtype) {
  std::set<std::string> changed;
  const auto change = [&](const std::string& name) {
    const TensorSlot* const found = sample.slot_called(name);
    if (!found || !present(sample.tensor(*found)) || !changed.insert(name).second) return false;
    sample.tensor(*found).dtype = dtype;
    return true;
  };
  change(std::string(slot.name));
  for (auto refusal = sample.refusal(); refusal; refusal = sample.refusal()) {
    constexpr std::string_view kThatOf = "that of ";
    const std::string& text = refusal->text;
    if (refusal->status != HSTU_ERROR_UNSUPPORTED_DTYPE) return {};
    if (change(text.substr(0, text.find(".dtype")))) continue;
    const size_t other = text.find(kThatOf);
    if (other == text.npos) return {};
    const size_t begin = other + kThatOf.size();
    if (!change(text.substr(begin, text.find(',', begin) - begin))) return {};
  }
  return changed;
}

/// By the operator's number.
class Forms : public testing::TestWithParam<int> {
 protected:
  const Operator& op_ = operator_of(static_cast<Op>(GetParam()));
  const std::vector<Sample>& samples_ = samples_of(static_cast<Op>(GetParam()));
};

TEST_P(Forms, HaveTheRanksAndStridesThatPrepareTakes) {
  for (const TensorSlot& slot : op_.tensors) {
    std::set<int> ranks;
    for (Sample sample : samples_) {
      const hstu_tensor given = sample.tensor(slot);
      if (!present(given)) continue;
      SCOPED_TRACE(std::string(slot.name) + " of rank " + std::to_string(given.rank));
      ranks.insert(given.rank);
      const int free = slot.form.free_strides.at(static_cast<size_t>(given.rank));
      for (int d = 0; d < given.rank; ++d) {
        if (given.shape[d] <= 1) continue;  // its stride addresses nothing
        sample.tensor(slot) = given;
        space_out(sample.tensor(slot), d);
        const auto refusal = sample.refusal();
        EXPECT_EQ(!refusal, d < free) << "a gap in dimension " << d << ": " << (refusal ? refusal->text : "taken");
        if (d >= free || slot.role == TensorRole::output) continue;
        sample.tensor(slot).stride[d] = 0;
        const auto of_broadcast = sample.refusal();
        EXPECT_FALSE(of_broadcast) << "one element for all of dimension " << d << ": " << of_broadcast->text;
      }
    }
    for (int rank = 0; rank <= HSTU_MAX_RANK; ++rank)
      EXPECT_EQ(ranks.contains(rank), slot.form.free_strides[static_cast<size_t>(rank)] != TensorForm::kNoRank)
          << slot.name << " of rank " << rank;
  }
}

TEST_P(Forms, HaveTheTypesThatPrepareTakes) {
  std::map<std::string, Dtypes> taken;
  for (Sample sample : samples_)
    for (const TensorSlot& slot : op_.tensors) {
      if (!present(sample.tensor(slot))) continue;
      taken[std::string(slot.name)] |= set_of({sample.tensor(slot).dtype});
      for (int dtype = HSTU_DTYPE_F32; dtype <= HSTU_DTYPE_F64; ++dtype)
        for (const std::string& name : taken_with(sample, slot, static_cast<hstu_dtype>(dtype)))
          taken[name] |= set_of({static_cast<hstu_dtype>(dtype)});
    }
  for (const TensorSlot& slot : op_.tensors)
    EXPECT_EQ(taken[std::string(slot.name)], slot.form.dtypes) << slot.name << ", as sets of bits";
}

TEST_P(Forms, SayWhichTensorsCallsDoWithout) {
  for (const TensorSlot& slot : op_.tensors) {
    const bool done_without = std::ranges::any_of(samples_, [&](Sample sample) {
      sample.tensor(slot) = {};
      return !sample.refusal() || std::ranges::any_of(op_.tensors, [&](const TensorSlot& other) {
        Sample both = sample;  // weight and bias
        both.tensor(other) = {};
        return !both.refusal();
      });
    });
    EXPECT_EQ(done_without, slot.form.optional) << slot.name;
  }
}

std::byte* place_of(const ScalarSlot& slot, ArgsBytes& args) { return args.data() + slot.offset; }
size_t size_of_number(const ScalarSlot& slot) {
  return slot.kind == ScalarSlot::Kind::f32 || slot.kind == ScalarSlot::Kind::i32 ? 4 : 8;
}

template <class Number>
double read(const std::byte* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return static_cast<double>(number);
}
double value_of(const ScalarSlot& slot, ArgsBytes& args) {
  const std::byte* const at = place_of(slot, args);
  if (slot.kind == ScalarSlot::Kind::f32) return read<float>(at);
  if (slot.kind == ScalarSlot::Kind::f64) return read<double>(at);
  return slot.kind == ScalarSlot::Kind::i32 ? read<int32_t>(at) : read<int64_t>(at);
}

TEST_P(Forms, SayWhatANumberThatIsZeroCountsAs) {
  for (const ScalarSlot& slot : op_.scalars) {
    std::set<double> counts_as;
    bool refused = false;  // for its own sake
    for (Sample sample : samples_) {
      std::memset(place_of(slot, sample.args), 0, size_of_number(slot));
      if (const auto refusal = sample.refusal()) {
        refused |= refusal->text.starts_with(std::string(slot.name) + " = 0:");
        continue;
      }
      op_.prepare(sample.args.data());
      counts_as.insert(value_of(slot, sample.args));
    }
    EXPECT_EQ(slot.zero.refused, refused && counts_as.empty()) << slot.name;
    if (std::isnan(slot.zero.means))
      EXPECT_GT(counts_as.size() + !counts_as.contains(0), 1u) << slot.name << " is always what 0 counts as";
    else
      for (const double value : counts_as) EXPECT_EQ(value, slot.zero.means) << slot.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Forms, testing::Range(0, kOpCount),
                         [](const auto& c) { return std::string(name_of(static_cast<Op>(c.param))); });

}  // namespace
}  // namespace hstujit
