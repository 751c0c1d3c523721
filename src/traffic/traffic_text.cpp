// Recorded shapes as entries of a workload file: each args struct spelled out, made-up lengths for its sequences.
#include "support/error.hpp"
#include "support/json.hpp"
#include "support/log.hpp"
#include "support/to_integer.hpp"
#include "traffic/traffic.hpp"
#include "tuner/values.hpp"

#include <algorithm>
#include <deque>

namespace hstujit {
namespace {

// Only the order of the entries hangs on these: an H200's memory and tensor cores, a launch.
constexpr double kBytesPerSecond = 4e12, kFlopsPerSecond = 5e14, kLeastSeconds = 2e-6;
constexpr int64_t kBufferAlignment = 256;

const hstu_tensor* tensor_named(const Operator& op, const void* args, std::string_view name) {
  for (const TensorSlot& slot : op.tensors)
    if (slot.name == name && present(tensor_at(args, slot))) return &tensor_at(args, slot);
  return nullptr;
}

int64_t scalar_named(const Operator& op, const void* args, std::string_view name) {
  for (const ScalarSlot& slot : op.scalars)
    if (slot.name == name && slot.kind == ScalarSlot::Kind::i64)
      return *reinterpret_cast<const int64_t*>(static_cast<const std::byte*>(args) + slot.offset);
  return 0;
}

/// Which tensor's rows the sequences of an integer tensor share out, and which attribute bounds their lengths.
struct Sharing {
  std::string_view integers, rows, longest;
};
constexpr Sharing kSharings[] = {
    {"seq_offsets", "k", "max_seq_len"},
    {"seq_offsets", "jagged", "max_seq_len"},
    {"seq_offsets", "x", "max_seq_len"},
    {"q_offsets", "q", "max_q_len"},
    {"offsets_left", "left", "max_len_left"},
    {"offsets_right", "right", "max_len_right"},
    {"offsets", "values", "max_len"},
    {"lengths_left", "left", "max_len_left"},
    {"lengths_right", "right", "max_len_right"},
    {"lengths", "values", "max_len"},
};

/// `batch` lengths from short to long that add up to `total`, none above `longest` if that can be had.
std::vector<int64_t> spread(int64_t total, int64_t batch, int64_t longest) {
  std::vector<int64_t> lengths;
  if (batch == 0) return lengths;
  const double mean = static_cast<double>(total) / static_cast<double>(batch);
  const double high = longest > 0 ? std::min(2 * mean, static_cast<double>(longest)) : 2 * mean, low = 2 * mean - high;
  int64_t carried = 0;
  double sum = 0;
  int64_t given = 0;
  for (int64_t b = 0; b < batch; ++b) {
    sum += batch == 1 ? mean : low + (high - low) * static_cast<double>(b) / static_cast<double>(batch - 1);
    int64_t length = (b + 1 == batch ? total : to_nearest_integer<int64_t>(sum)) - given;
    given += length;
    length += carried;
    carried = longest > 0 ? std::max<int64_t>(length - longest, 0) : 0;
    lengths.push_back(length - carried);
  }
  for (int64_t& length : lengths) {  // what rounding left over fits where there is room
    const int64_t room = std::min(carried, longest - length);
    length += room;
    carried -= room;
  }
  lengths.back() += carried;
  return lengths;
}

/// What an integer tensor says of its sequences.
struct Lengths {
  bool offsets = false;  ///< their sums are its elements
  std::vector<int64_t> lengths;

  std::vector<int64_t> elements() const {
    if (!offsets) return lengths;
    std::vector<int64_t> sums{0};
    for (const int64_t length : lengths) sums.push_back(sums.back() + length);
    return sums;
  }
};

/// Made up so that they add up to the rows that were seen.
Lengths lengths_of(const Operator& op, const void* args, const TensorSlot& slot) {
  const hstu_tensor& tensor = tensor_at(args, slot);
  for (const Sharing& sharing : kSharings) {
    const hstu_tensor* rows = tensor_named(op, args, sharing.rows);
    if (sharing.integers != slot.name || !rows) continue;
    const bool offsets = slot.name.ends_with("offsets");
    return {offsets, spread(rows->shape[0], tensor.shape[0] - offsets, scalar_named(op, args, sharing.longest))};
  }
  if (slot.name != "num_targets") fail(HSTU_ERROR_UNSUPPORTED, "{}: a workload cannot express it", slot.name);
  return {false, std::vector<int64_t>(static_cast<size_t>(tensor.shape[0]))};
}

OrderedJson integers_of(const Operator& op, const void* args, const TensorSlot& slot) {
  const hstu_tensor& tensor = tensor_at(args, slot);
  const Lengths made_up = lengths_of(op, args, slot);
  OrderedJson lengths = {{"kind", "explicit"}, {"lengths", made_up.lengths}};
  if (slot.name == "num_targets") lengths = 0;
  return {{"dtype", name_of(tensor.dtype)},
          {made_up.offsets ? "offsets" : "values", {{"batch", made_up.lengths.size()}, {"lengths", lengths}}}};
}

OrderedJson elements_of(const hstu_tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.rank);
  OrderedJson out = {{"shape", std::vector<int64_t>(tensor.shape, tensor.shape + rank)},
                     {"dtype", name_of(tensor.dtype)}};
  // Prepared ones have their strides. A workload means all those that it writes.
  if (tensor.flags == HSTU_STRIDES_GIVEN) out["stride"] = std::vector<int64_t>(tensor.stride, tensor.stride + rank);
  return out;
}

/// Nothing for the value that an absent member has.
OrderedJson scalar_of(const void* args, const ScalarSlot& slot) {
  const std::byte* const at = static_cast<const std::byte*>(args) + slot.offset;
  if (slot.kind == ScalarSlot::Kind::f32 || slot.kind == ScalarSlot::Kind::f64) {
    const bool single = slot.kind == ScalarSlot::Kind::f32;
    const double value =
        single ? static_cast<double>(*reinterpret_cast<const float*>(at)) : *reinterpret_cast<const double*>(at);
    return value == 0 && !std::signbit(value) ? OrderedJson() : OrderedJson(value);
  }
  const int64_t value = slot.kind == ScalarSlot::Kind::i64 ? *reinterpret_cast<const int64_t*>(at)
                                                           : int64_t{*reinterpret_cast<const int32_t*>(at)};
  if (value == 0) return OrderedJson();
  if (slot.words.empty()) return OrderedJson(value);
  return OrderedJson(slot.words[static_cast<size_t>(value)]);
}

OrderedJson entry_of(const Traffic::Shape& shape) {
  const Operator& op = operator_of(shape.problem.op);
  const void* const args = shape.args.data();
  OrderedJson entry = {{"op", op.name}, {"count", shape.calls}};
  for (const ScalarSlot& slot : op.scalars)
    if (OrderedJson value = scalar_of(args, slot); !value.is_null()) entry[std::string(slot.name)] = std::move(value);
  for (const TensorSlot& slot : op.tensors) {
    const hstu_tensor& tensor = tensor_at(args, slot);
    if (!present(tensor)) continue;
    entry["tensors"][std::string(slot.name)] =
        slot.role == TensorRole::integer ? integers_of(op, args, slot) : elements_of(tensor);
  }
  return entry;
}

std::string document(const std::vector<OrderedJson>& entries) {
  std::string text =
      "{\"format\": \"hstujit-workload-1\", \"name\": \"recorded\",\n"
      " \"about\": \"Shapes that a server was asked for, the most time-consuming first; lengths of sequences are made "
      "up\",\n"
      " \"operators\": [";
  for (size_t i = 0; i < entries.size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + entries[i].dump();
  return text + "]}\n";
}

/// At least so many seconds, if a workload's call is the problem that was seen: its buffers are aligned, its integers
/// have no gaps. Throws Error otherwise.
double seconds_of(const Traffic::Shape& shape) {
  const Operator& op = operator_of(shape.problem.op);
  std::vector<std::byte> args = shape.args;
  int64_t next = kBufferAlignment;  // addresses of buffers that nobody reads
  std::deque<std::vector<std::byte>> integers;
  for (const TensorSlot& slot : op.tensors) {
    hstu_tensor& tensor = tensor_at(args.data(), slot);
    if (!present(tensor)) continue;
    tensor.data = reinterpret_cast<void*>(next);
    next += (extent_bytes(tensor) / kBufferAlignment + 1) * kBufferAlignment;
    if (slot.role != TensorRole::integer) continue;
    integers.push_back(encode(lengths_of(op, shape.args.data(), slot).elements(), tensor.dtype));
    tensor = hstu_vector(integers.back().data(), tensor.dtype, tensor.shape[0]);
  }
  if (!(op.prepare(args.data()) == shape.problem))
    fail(HSTU_ERROR_UNSUPPORTED, "a workload cannot express {}", text(shape.problem));
  const Cost least = op.cost(args.data());
  const double seconds = std::max(least.bytes / kBytesPerSecond, least.flops / kFlopsPerSecond);
  return static_cast<double>(shape.calls) * std::max(seconds, kLeastSeconds);
}

}  // namespace

std::string workload_text(const std::vector<Traffic::Shape>& shapes, int64_t* left_out) {
  *left_out = 0;
  std::vector<std::pair<double, OrderedJson>> weighted;
  for (const Traffic::Shape& shape : shapes) {
    try {
      OrderedJson entry = entry_of(shape);
      const double seconds = seconds_of(shape);
      weighted.emplace_back(seconds, std::move(entry));
    } catch (const Error& error) {
      log().info("traffic: {} calls left out: {}", shape.calls, error.message());
      ++*left_out;
    }
  }
  std::sort(weighted.begin(), weighted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.dump() < b.second.dump();
  });
  std::vector<OrderedJson> entries;
  for (auto& [seconds, entry] : weighted) entries.push_back(std::move(entry));
  return document(entries);
}

}  // namespace hstujit
