// Position and time embeddings: facts, checks, key, cost and reference. History counts backwards, times are buckets of
// ages.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/added_rows.hpp"
#include "support/element.hpp"
#include "support/error.hpp"
#include "support/to_integer.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using Args = hstu_add_timestamp_positional_embeddings_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
    {"position_embeddings", offsetof(Args, position_embeddings), TensorRole::input, of_rank(2, kFloating)},
    {"timestamp_embeddings", offsetof(Args, timestamp_embeddings), TensorRole::input, of_rank(2, kFloating)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"timestamps", offsetof(Args, timestamps), TensorRole::integer, of_rank(1, kI64)},
    {"num_targets", offsetof(Args, num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"query_time", offsetof(Args, query_time), TensorRole::integer, of_rank(1, kI64).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr std::string_view kBucketWords[] = {"sqrt", "log"};
constexpr ScalarSlot kScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32, {}, {1}},
    {"time_bucket_increments", offsetof(Args, time_bucket_increments), ScalarSlot::Kind::f32, {}, {60}},
    {"time_bucket_fn", offsetof(Args, time_bucket_fn), ScalarSlot::Kind::i32, kBucketWords},
    {"max_contextual_seq_len", offsetof(Args, max_contextual_seq_len), ScalarSlot::Kind::i64},
    {"interleave_targets", offsetof(Args, interleave_targets), ScalarSlot::Kind::i32}};
enum : size_t { kSeqOffsets = 3, kNumTargets = 5 };  // slots of kTensors

/// More than any sequence has, to which positions can be added.
constexpr int64_t kManyRows = int64_t{1} << 40;

void check_buckets(Args& args) {
  const int function = checks::code(args.time_bucket_fn);
  if (function != HSTU_TIME_BUCKET_SQRT && function != HSTU_TIME_BUCKET_LOG)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "time_bucket_fn = {}: use SQRT (0) or LOG (1)", function);
  checks::finite("time_bucket_increments", args.time_bucket_increments);
  if (args.time_bucket_increments < 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "time_bucket_increments = {}: it must be positive; 0 means 60",
         args.time_bucket_increments);
  if (args.time_bucket_increments == 0) args.time_bucket_increments = 60;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {added_rows::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  added_rows::Check check(Op::add_timestamp_positional_embeddings, "x", args.x, args.out, args.seq_offsets);
  check.table("position_embeddings", args.position_embeddings, false);
  check.table("timestamp_embeddings", args.timestamp_embeddings, false);
  check.seconds("timestamps", args.timestamps, check.rows(), "total = x.shape[0]");
  check.targets(args.num_targets);
  if (checks::given("query_time", args.query_time))
    check.seconds("query_time", args.query_time, check.batch(), "batch = seq_offsets.shape[0] - 1");
  check_buckets(args);
  checks::not_negative("max_contextual_seq_len", args.max_contextual_seq_len, "0 means none");
  args.max_contextual_seq_len = std::min(args.max_contextual_seq_len, kManyRows);
  checks::flag("interleave_targets", args.interleave_targets);
  args.alpha = added_rows::alpha(args.alpha);
  Problem problem = check.problem();
  problem[added_rows::kLogarithm] = args.time_bucket_fn == HSTU_TIME_BUCKET_LOG;
  return problem;
}

Cost cost_of(const Args& args) {
  return added_rows::cost_of(
      args.x, args.seq_offsets,
      {&args.position_embeddings, &args.timestamp_embeddings, &args.timestamps, &args.num_targets, &args.query_time});
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

namespace reference {
namespace {

int64_t position_of(const Args& args, const SequenceRow& at) {
  if (at.local() < args.max_contextual_seq_len) return limited(at.local(), args.position_embeddings);
  const int64_t history = history_of(at, args.num_targets, args.interleave_targets);
  return limited(history - std::min(at.local(), history) + args.max_contextual_seq_len, args.position_embeddings);
}

/// Seconds from `time` to the query, 0 where it is later. They may lie further apart than signed integers reach.
float age_of(int64_t query_time, int64_t time) {
  return query_time > time ? static_cast<float>(static_cast<uint64_t>(query_time) - static_cast<uint64_t>(time)) : 0;
}

/// In f32 as the operator is defined: buckets have edges, and doubles would put some ages on the other side of them.
int64_t bucket_of(const Args& args, const SequenceRow& at) {
  const int64_t query_time =
      present(args.query_time) ? integer_at(args.query_time, at.sequence) : integer_at(args.timestamps, at.end - 1);
  const float age = age_of(query_time, integer_at(args.timestamps, at.row));
  const float increments = std::max(age, 1e-6f) / args.time_bucket_increments;
  const float bucket = args.time_bucket_fn == HSTU_TIME_BUCKET_LOG ? std::log(increments) : std::sqrt(increments);
  return limited(to_integer<int64_t>(bucket), args.timestamp_embeddings);
}

}  // namespace

void run(const Args& args, double* const* exact) {
  check_counts("num_targets", args.num_targets);
  add_rows(args.x, args.out, args.seq_offsets, args.alpha,
           {{args.position_embeddings, [&](const SequenceRow& at) { return position_of(args, at); }},
            {args.timestamp_embeddings, [&](const SequenceRow& at) { return bucket_of(args, at); }}},
           exact);
}

}  // namespace reference

}  // namespace hstujit
