// Distributions of lengths in workload files.
#include "workload/parse_call.hpp"

namespace hstujit {
namespace {

constexpr Range kSeed{0, std::numeric_limits<int64_t>::max()};
constexpr Word<Lengths::Kind> kKinds[] = {{"constant", Lengths::Kind::constant},
                                          {"linear", Lengths::Kind::linear},
                                          {"uniform", Lengths::Kind::uniform},
                                          {"explicit", Lengths::Kind::given}};

std::vector<int64_t> explicit_lengths(JsonObject& in, int64_t batch) {
  const Json& list = in.require("lengths");
  const std::string pointer = in.pointer_of("lengths");
  if (!list.is_array()) fail_at(pointer, "{}: a list of lengths belongs here", shown_json(list));
  if (std::cmp_not_equal(list.size(), batch)) fail_at(pointer, "{} lengths for a batch of {}", list.size(), batch);
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < list.size(); ++i)
    lengths.push_back(integer_of(list[i], child(pointer, std::to_string(i)), kAnyLength));
  return lengths;
}

std::optional<uint64_t> optional_seed(JsonObject& in, std::string_view key) {
  if (!in.find(key)) return std::nullopt;
  return static_cast<uint64_t>(in.integer(key, kSeed));
}

}  // namespace

Lengths parse_lengths(const Json& value, const std::string& pointer, int64_t batch) {
  Lengths lengths;
  if (!value.is_object()) {
    lengths.from = integer_of(value, pointer, kAnyLength);
    return lengths;
  }
  JsonObject in(value, pointer);
  lengths.kind = in.choice<Lengths::Kind>("kind", kKinds);
  if (lengths.kind == Lengths::Kind::constant) lengths.from = in.integer("length", kAnyLength);
  if (lengths.kind == Lengths::Kind::given) lengths.list = explicit_lengths(in, batch);
  if (lengths.kind == Lengths::Kind::linear || lengths.kind == Lengths::Kind::uniform) {
    lengths.from = in.integer("from", kAnyLength);
    lengths.to = in.integer("to", {lengths.from, kMaxLength});
  }
  if (lengths.kind == Lengths::Kind::linear) lengths.seed = optional_seed(in, "shuffle_seed");
  if (lengths.kind == Lengths::Kind::uniform) lengths.seed = static_cast<uint64_t>(in.integer("seed", kSeed));
  in.finish();
  return lengths;
}

}  // namespace hstujit
