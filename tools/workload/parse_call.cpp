// Entries of workload files that spell an operator's args struct, tensor by tensor.
#include "workload/parse_call.hpp"

#include "operators/aliases.hpp"
#include "operators/operators.hpp"

#include <charconv>
#include <utility>

namespace hstujit {
namespace {

constexpr Range kExtent{0, int64_t{1} << 40};

constexpr Word<hstu_dtype> kTypes[] = {{"bf16", HSTU_DTYPE_BF16}, {"f16", HSTU_DTYPE_F16}, {"f32", HSTU_DTYPE_F32},
                                       {"i32", HSTU_DTYPE_I32},   {"i64", HSTU_DTYPE_I64}, {"e4m3", HSTU_DTYPE_E4M3},
                                       {"e5m2", HSTU_DTYPE_E5M2}, {"u8", HSTU_DTYPE_U8},   {"i16", HSTU_DTYPE_I16},
                                       {"f64", HSTU_DTYPE_F64}};

constexpr Word<Extent::Term::Kind> kFacts[] = {{"batch", Extent::Term::Kind::batch},
                                               {"total", Extent::Term::Kind::total},
                                               {"longest", Extent::Term::Kind::longest}};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// "7", or "total(seq_offsets)".
Extent::Term parse_term(std::string_view word, const std::string& pointer) {
  Extent::Term term;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), term.number);
  if (status == std::errc() && end == word.data() + word.size()) {
    if (std::abs(term.number) > kExtent.most || term.number == std::numeric_limits<int64_t>::min())
      fail_at(pointer, "\"{}\": it must be from {} to {}", word, -kExtent.most, kExtent.most);
    return term;
  }
  const size_t open = word.find('(');
  if (open != std::string_view::npos && word.ends_with(')'))
    for (const auto& [name, kind] : kFacts)
      if (name == word.substr(0, open)) {
        term.kind = kind;
        term.tensor = word.substr(open + 1, word.size() - open - 2);
        return term;
      }
  fail_at(pointer, "\"{}\": use a number, batch(tensor), total(tensor), longest(tensor), or a sum of these",
          shown(word));
}

Extent parse_extent(const Json& value, const std::string& pointer) {
  Extent extent;
  if (!value.is_string()) {
    extent.terms.push_back({Extent::Term::Kind::number, integer_of(value, pointer, kExtent), {}});
    return extent;
  }
  const std::string text = value.get<std::string>();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('+', begin), text.size());
    extent.terms.push_back(parse_term(trimmed(std::string_view(text).substr(begin, end - begin)), pointer));
    begin = end + 1;
  }
  return extent;
}

std::vector<Extent> parse_shape(const Json& list, const std::string& pointer) {
  if (!list.is_array() || list.empty() || list.size() > HSTU_MAX_RANK)
    fail_at(pointer, "{}: a list of 1 to {} extents belongs here", shown_json(list), HSTU_MAX_RANK);
  std::vector<Extent> shape;
  for (size_t i = 0; i < list.size(); ++i) shape.push_back(parse_extent(list[i], child(pointer, std::to_string(i))));
  return shape;
}

std::vector<int64_t> parse_stride(const Json& list, const std::string& pointer, size_t rank) {
  if (!list.is_array() || list.size() != rank)
    fail_at(pointer, "{}: a list of {} strides belongs here", shown_json(list), rank);
  std::vector<int64_t> stride;
  for (size_t i = 0; i < rank; ++i) stride.push_back(integer_of(list[i], child(pointer, std::to_string(i)), kExtent));
  return stride;
}

TensorSpec::Integers parse_integers(const Json& value, const std::string& pointer, bool offsets) {
  JsonObject in(value, pointer);
  TensorSpec::Integers integers;
  integers.offsets = offsets;
  integers.batch = in.integer("batch", kBatch);
  integers.lengths = parse_lengths(in.require("lengths"), in.pointer_of("lengths"), integers.batch);
  in.finish();
  return integers;
}

TensorSpec parse_integer_tensor(JsonObject& in) {
  TensorSpec spec;
  spec.dtype = in.choice<hstu_dtype>("dtype", kIntegerTypes, HSTU_DTYPE_I64);
  const Json* offsets = in.find("offsets");
  const Json* values = in.find("values");
  if ((offsets == nullptr) == (values == nullptr))
    fail_at(in.pointer(), "an integer tensor has either \"offsets\" or \"values\"");
  const char* const key = offsets ? "offsets" : "values";
  spec.integers = parse_integers(offsets ? *offsets : *values, in.pointer_of(key), offsets != nullptr);
  if (const Json* shape = in.find("shape")) spec.shape = parse_shape(*shape, in.pointer_of("shape"));
  return spec;
}

TensorSpec parse_tensor(const TensorSlot& slot, const Json& value, const std::string& pointer, hstu_dtype dtype) {
  TensorSpec spec;
  spec.dtype = dtype;
  if (value.is_array()) {
    if (slot.role == TensorRole::integer) fail_at(pointer, "it holds integers: give {{\"offsets\": ...}} or values");
    spec.shape = parse_shape(value, pointer);
  } else {
    JsonObject in(value, pointer);
    if (slot.role == TensorRole::integer) {
      spec = parse_integer_tensor(in);
    } else {
      spec.dtype = in.choice<hstu_dtype>("dtype", kTypes, dtype);
      spec.shape = parse_shape(in.require("shape"), in.pointer_of("shape"));
      if (const Json* stride = in.find("stride"))
        spec.stride = parse_stride(*stride, in.pointer_of("stride"), spec.shape.size());
      if (in.find("mean")) spec.mean = in.small_number("mean");
      if (in.find("deviation")) spec.scale = in.small_number("deviation");
    }
    in.finish();
  }
  spec.name = slot.name;
  return spec;
}

int64_t parse_word(const ScalarSlot& slot, const Json& value, const std::string& pointer) {
  const std::string* const given = value.get_ptr<const std::string*>();
  for (size_t i = 0; given && i < slot.words.size(); ++i)
    if (*given == slot.words[i]) return static_cast<int64_t>(i);
  fail_at(pointer, "{}: use one of {}", shown_json(value), fmt::join(slot.words, ", "));
}

CallSpec::Scalar parse_scalar(const ScalarSlot& slot, const Json& value, const std::string& pointer) {
  CallSpec::Scalar scalar;
  scalar.name = slot.name;
  if (!slot.words.empty()) {
    scalar.extent = Extent{{{Extent::Term::Kind::number, parse_word(slot, value, pointer), {}}}};
  } else if (slot.kind == ScalarSlot::Kind::f32 || slot.kind == ScalarSlot::Kind::f64) {
    scalar.number = float_of(value, pointer);
  } else if (value.is_boolean()) {
    scalar.extent = Extent{{{Extent::Term::Kind::number, value.get<bool>() ? 1 : 0, {}}}};
  } else {
    scalar.extent = parse_extent(value, pointer);
  }
  return scalar;
}

/// Of a tensor as a workload writes it; 0 of one whose shape nobody gave.
size_t rank_of(const Json& tensor) {
  if (tensor.is_array()) return tensor.size();
  const auto shape = tensor.is_object() ? tensor.find("shape") : tensor.end();
  return shape == tensor.end() ? 0 : shape->size();
}

bool applies(const OldMember& old, const Json* value) {
  return value && (old.rank == 0 || rank_of(*value) == static_cast<size_t>(old.rank));
}

/// The member under its name, or under one that it had before, and that name.
std::pair<std::string_view, const Json*> find_member(Op op, std::string_view name, JsonObject& in) {
  bool of_another = false;  // what is called so here was renamed
  for (const OldMember& old : old_members()) {
    if (old.op != op) continue;
    if (old.now == name && applies(old, in.peek(old.before))) return {old.before, in.find(old.before)};
    of_another = of_another || (old.before == name && applies(old, in.peek(name)));
  }
  return {name, of_another ? nullptr : in.find(name)};
}

}  // namespace

CallSpec parse_call(Op op, JsonObject& in, hstu_dtype dtype) {
  CallSpec spec;
  spec.op = op;
  const Operator& entry = operator_of(op);
  JsonObject tensors(in.require("tensors"), in.pointer_of("tensors"));
  for (const TensorSlot& slot : entry.tensors) {
    const auto [name, value] = find_member(op, slot.name, tensors);
    if (value) spec.tensors.push_back(parse_tensor(slot, *value, tensors.pointer_of(name), dtype));
  }
  tensors.finish();
  for (const ScalarSlot& slot : entry.scalars) {
    const auto [name, value] = find_member(op, slot.name, in);
    if (value) spec.scalars.push_back(parse_scalar(slot, *value, in.pointer_of(name)));
  }
  return spec;
}

}  // namespace hstujit
