// Random problems of the position and time embeddings.
#include "support/random_draw.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

constexpr hstu_dtype kI64 = HSTU_DTYPE_I64;
constexpr int64_t kNow = 1'750'000'000;  // no float holds it exactly

/// What both have: x, out, positions, sequences and targets. Elements are of one sign, so that no sum cancels, which
/// the size of a short row would not show.
template <class Args>
std::vector<int64_t> set_rows(Draw& d, hstu_dtype dtype, hstu_dtype table, int64_t columns, Args& args) {
  const std::vector<int64_t> lengths = d.lengths(7, std::clamp<int64_t>(8'000 / columns, 2, 30));
  const int64_t total = offsets_of(lengths).back(), spare = d.problem.below(3);
  const bool in_place = d.kernel.below(5) == 0;
  args.x = d.matrix(dtype, total + (in_place ? 0 : spare), columns, Contents::normal, 3, 0.5);
  args.out = in_place ? args.x : d.matrix(dtype, total + spare, columns, Contents::poison);
  args.position_embeddings = d.matrix(table, d.problem.up_to(40), columns, Contents::normal, 3, 0.5);
  args.seq_offsets = d.integers(offsets_of(lengths));
  if (d.kernel.coin()) args.num_targets = d.counts(static_cast<int64_t>(lengths.size()), 9);
  args.alpha = d.problem.any({0.0f, 1.5f, 0.25f});
  args.interleave_targets = present(args.num_targets) && d.kernel.coin();
  return lengths;
}

/// An age whose bucket is no whole number within 1e-3: the functions of devices differ in the last place.
int64_t age_off_edges(Choices& choices, float increments) {
  for (;;) {
    const int64_t age = choices.below(int64_t{1} << choices.up_to(33));
    const double u = std::max(static_cast<double>(age), 1e-6) / increments;
    const auto off = [](double x) { return std::fabs(x - std::round(x)) > 1e-3; };
    if (age == 0 || (off(std::sqrt(u)) && off(std::log(u)))) return age;
  }
}

void draw_positional(Draw& d) {
  using Args = hstu_add_positional_embeddings_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), table = d.each({HSTU_DTYPE_F32, HSTU_DTYPE_BF16, HSTU_DTYPE_F16});
  set_rows(d, dtype, table, d.width(), args);
  d.correct(args, {&Args::out}, rounded_sum(dtype));
}

void draw_timestamp_positional(Draw& d) {
  using Args = hstu_add_timestamp_positional_embeddings_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), table = d.each({HSTU_DTYPE_F32, HSTU_DTYPE_BF16, HSTU_DTYPE_F16});
  const int64_t columns = d.width();
  const std::vector<int64_t> lengths = set_rows(d, dtype, table, columns, args);
  args.timestamp_embeddings = d.matrix(table, d.problem.up_to(60), columns, Contents::normal, 3, 0.5);
  args.time_bucket_fn = d.kernel.any({HSTU_TIME_BUCKET_SQRT, HSTU_TIME_BUCKET_LOG});
  args.time_bucket_increments = d.problem.any({30.0f, 60.0f});
  args.max_contextual_seq_len = d.problem.below(5);
  std::vector<int64_t> times;
  for (const int64_t length : lengths)
    for (int64_t i = 0; i < length; ++i)
      times.push_back(kNow - (i + 1 == length ? 0 : age_off_edges(d.problem, args.time_bucket_increments)));
  times.resize(static_cast<size_t>(args.x.shape[0]));
  args.timestamps = d.integers(kI64, times);
  if (d.kernel.coin()) args.query_time = d.integers(kI64, std::vector<int64_t>(lengths.size(), kNow));
  d.correct(args, {&Args::out}, rounded_sum(dtype));
}

}  // namespace

std::span<const RandomOperator> random_position() {
  static constexpr RandomOperator kAll[] = {{Op::add_positional_embeddings, draw_positional},
                                            {Op::add_timestamp_positional_embeddings, draw_timestamp_positional}};
  return kAll;
}

}  // namespace hstujit::test
