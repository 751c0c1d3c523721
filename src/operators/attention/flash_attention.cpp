// Softmax attention: facts, checks, key, cost and reference, which takes one query at a time.
#include "operators/attention/flash_attention.hpp"

#include "operators/checks.hpp"
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_flash_attention_args;

constexpr TensorSlot kTensors[] = {
    {"q", offsetof(Args, q), TensorRole::input, of_rank(3, kFloating).or_rank(4)},
    {"k", offsetof(Args, k), TensorRole::input, of_rank(3, kFloating).or_rank(4)},
    {"v", offsetof(Args, v), TensorRole::input, of_rank(3, kFloating).or_rank(4)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(3, kFloating).or_rank(4)},
    {"lse", offsetof(Args, lse), TensorRole::output, of_rank(2, kF32).or_rank(3).or_absent()},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
constexpr std::string_view kMaskWords[] = {"causal", "full"};
constexpr ScalarSlot kScalars[] = {{"scale", offsetof(Args, scale), ScalarSlot::Kind::f64, {}, kFollows},
                                   {"mask", offsetof(Args, mask.kind), ScalarSlot::Kind::i32, kMaskWords},
                                   {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64}};
enum : size_t { kSeqOffsets = 5 };  // slot of kTensors

void check_head_dim(const char* name, const checks::Tensor& a, int dim) {
  if (a.t.shape[dim] < 1 || a.t.shape[dim] > 256)
    fail(HSTU_ERROR_UNSUPPORTED, "{} = {} ({}.shape[{}]): attention covers 1 to 256", name, a.t.shape[dim], a.name,
         dim);
}

struct Tensors {
  checks::Tensor q, k, v, out;
};

/// Element types, the last dimension, and that nothing overlaps.
void check_common(const Tensors& t) {
  const int last = t.q.t.rank - 1;
  checks::floating(t.q);
  for (const checks::Tensor* other : {&t.k, &t.v, &t.out}) checks::same_dtype(*other, t.q);
  check_head_dim("head_dim_qk", t.q, last);
  check_head_dim("head_dim_v", t.v, last);
  checks::extent(t.k, last, t.q.t.shape[last], "head_dim_qk");
  checks::extent(t.out, last, t.v.t.shape[last], "head_dim_v");
  checks::no_self_overlap(t.out);
  for (const checks::Tensor* in : {&t.q, &t.k, &t.v}) checks::disjoint(t.out, *in);
}

void check_lse(const checks::Tensor& lse, const Tensors& t) {
  checks::is_f32(lse);
  checks::no_self_overlap(lse);
  for (const checks::Tensor* other : {&t.q, &t.k, &t.v, &t.out}) checks::disjoint(lse, *other);
}

void check_dense(Args& args, const Tensors& t) {
  for (const checks::Tensor* other : {&t.k, &t.v, &t.out}) {
    checks::extent(*other, 0, t.q.t.shape[0], "batch = q.shape[0]");
    checks::extent(*other, 1, t.q.t.shape[1], "num_heads = q.shape[1]");
  }
  checks::extent(t.out, 2, t.q.t.shape[2], "queries = q.shape[2]");
  checks::extent(t.v, 2, t.k.t.shape[2], "keys = k.shape[2]");
  for (const checks::Tensor* a : {&t.q, &t.k})  // kernels count positions in 32 bits, of both together
    if (a->t.shape[2] >= int64_t{1} << 30) checks::refuse_size(*a, 2);
  if (!checks::given("lse", args.lse)) return;
  const checks::Tensor lse = checks::required<3>("lse", args.lse);
  checks::extent(lse, 0, t.q.t.shape[0], "batch = q.shape[0]");
  checks::extent(lse, 1, t.q.t.shape[1], "num_heads = q.shape[1]");
  checks::extent(lse, 2, t.q.t.shape[2], "queries = q.shape[2]");
  check_lse(lse, t);
}

void check_jagged(Args& args, const Tensors& t) {
  for (const checks::Tensor* other : {&t.k, &t.v, &t.out}) {
    checks::extent(*other, 0, t.q.t.shape[0], "total = q.shape[0]");
    checks::extent(*other, 1, t.q.t.shape[1], "num_heads = q.shape[1]");
  }
  const checks::Tensor offsets = checks::required<1>("seq_offsets", args.seq_offsets);
  checks::integer(offsets);
  if (offsets.t.shape[0] < 1)
    fail(HSTU_ERROR_SHAPE_MISMATCH,
         "seq_offsets.shape[0] = 0: it must be batch + 1; give one offset, 0, for an empty batch");
  checks::disjoint(t.out, offsets);
  if (args.max_seq_len <= 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "max_seq_len = {}: it must be positive; pass the longest length to expect",
         args.max_seq_len);
  if (!checks::given("lse", args.lse)) return;
  const checks::Tensor lse = checks::required<2>("lse", args.lse);
  checks::extent(lse, 0, t.q.t.shape[1], "num_heads = q.shape[1]");
  checks::extent(lse, 1, t.q.t.shape[0], "total = q.shape[0]");
  check_lse(lse, t);
  checks::disjoint(lse, offsets);
}

Tensors check_tensors(Args& args, bool jagged) {
  if (jagged) {
    const Tensors t{checks::required<3>("q", args.q), checks::required<3>("k", args.k),
                    checks::required<3>("v", args.v), checks::required<3>("out", args.out)};
    check_common(t);
    check_jagged(args, t);
    return t;
  }
  const Tensors t{checks::required<4>("q", args.q), checks::required<4>("k", args.k), checks::required<4>("v", args.v),
                  checks::required<4>("out", args.out)};
  check_common(t);
  check_dense(args, t);
  return t;
}

/// The kind, as the options are all off.
int32_t check_mask(const hstu_mask_options& options) {
  const int kind = checks::code(options.kind);
  if (kind != HSTU_MASK_CAUSAL && kind != HSTU_MASK_FULL)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "mask.kind = {}: use CAUSAL (0) or FULL (1)", kind);
  hstu_mask_options none{};
  none.kind = options.kind;
  if (std::memcmp(&options, &none, sizeof none) != 0)
    fail(HSTU_ERROR_UNSUPPORTED,
         "mask has options: flash_attention reads mask.kind alone yet; leave all other members 0");
  return kind;
}

/// Pairs that n queries see of m keys.
double pairs_of(hstu_mask mask, int64_t n, int64_t m) {
  const double queries = static_cast<double>(n), keys = static_cast<double>(m);
  if (mask == HSTU_MASK_FULL) return queries * keys;
  const double rows = std::min(queries, keys);  // that see any
  return rows * (keys - rows) + rows * (rows + 1) / 2;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {flash_attention::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const bool jagged = checks::given("seq_offsets", args.seq_offsets);
  const Tensors t = check_tensors(args, jagged);
  const int32_t mask = check_mask(args.mask);
  checks::finite("scale", args.scale);
  const int last = t.q.t.rank - 1;
  const auto root = static_cast<float>(1 / std::sqrt(static_cast<double>(t.q.t.shape[last])));
  args.scale = checks::given_or(args.scale, static_cast<double>(root));

  Problem problem{Op::flash_attention, {}};
  using namespace flash_attention;
  problem[kDtype] = t.q.t.dtype;
  problem[kHeadDimQk] = checks::field(t.q, last);
  problem[kHeadDimV] = checks::field(t.v, last);
  problem[kNumHeads] = checks::field(t.q, 1);
  problem[kOffsetDtype] = args.seq_offsets.dtype;
  problem[kMask] = mask;
  problem[kLse] = present(args.lse);
  problem[kVector] = checks::Vector(t.q.t.dtype).tensor(t.q.t).tensor(t.k.t).tensor(t.v.t).tensor(t.out.t).elements();
  const int64_t batch = jagged ? args.seq_offsets.shape[0] - 1 : args.q.shape[0];
  if (batch > INT32_MAX) fail(HSTU_ERROR_UNSUPPORTED, "batch = {}: kernels cover up to {}", batch, INT32_MAX);
  problem[kBatch] = bucket(batch);
  problem[kQueries] = bucket(jagged ? args.q.shape[0] : args.q.shape[2]);
  problem[kKeys] = bucket(jagged ? args.max_seq_len : args.k.shape[2]);
  return problem;
}

Cost cost_of(const Args& args) {
  const bool jagged = present(args.seq_offsets);
  const int64_t batch = jagged ? args.seq_offsets.shape[0] - 1 : args.q.shape[0];
  double pairs = 0, queries = 0, keys = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t n = jagged ? integer_at(args.seq_offsets, b + 1) - integer_at(args.seq_offsets, b) : args.q.shape[2];
    const int64_t m = jagged ? n : args.k.shape[2];
    pairs += pairs_of(args.mask.kind, n, m);
    queries += static_cast<double>(n);
    keys += static_cast<double>(m);
  }
  const int last = args.q.rank - 1;
  const double heads = static_cast<double>(args.q.shape[1]);
  const double dims = static_cast<double>(args.q.shape[last] + args.v.shape[last]);
  const double lse = present(args.lse) ? 4 * heads * queries : 0;
  const double offsets = jagged ? static_cast<double>(batch + 1) * size_of(args.seq_offsets.dtype) : 0;
  return {.flops = 2 * pairs * heads * dims,
          .bytes = (queries + keys) * heads * dims * size_of(args.q.dtype) + lse + offsets};
}

void make_edge_case(Args& args, Integers& integers) {
  if (present(args.seq_offsets)) {
    std::vector<int64_t> no_targets;
    edge_case::make_ragged(integers[kSeqOffsets], no_targets);
  }
}

namespace reference {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

/// One head of one sequence: where its rows begin in each tensor, in elements.
struct Head {
  int64_t q, k, v, out, lse;  ///< offsets of the first row
  int64_t exact, exact_row;   ///< index of the first result in the buffer of exact ones; distance between rows
  int64_t exact_lse;
  int64_t queries, keys;
};

/// Strides between rows.
struct Rows {
  int64_t q, k, v, out, lse;
};

class Call {
 public:
  Call(const Args& args, double* const* exact)
      : a_(args),
        exact_out_(exact ? exact[0] : nullptr),
        exact_lse_(exact ? exact[1] : nullptr),
        store_(exact == nullptr),
        jagged_(present(args.seq_offsets)),
        heads_(args.q.shape[1]),
        batch_(jagged_ ? args.seq_offsets.shape[0] - 1 : args.q.shape[0]) {
    const int row = jagged_ ? 0 : 2;
    rows_ = {a_.q.stride[row], a_.k.stride[row], a_.v.stride[row], a_.out.stride[row], a_.lse.stride[jagged_ ? 1 : 2]};
  }

  int64_t tasks() const { return batch_ * heads_; }

  void run(int64_t task) const {
    const Head head = head_of(task / heads_, task % heads_);
    std::vector<double> query(index(dim_qk())), key(query), value(index(dim_v())), scores, result;
    for (int64_t i = 0; i < head.queries; ++i) {
      load(a_.q, head.q + i * rows_.q, dim_qk(), query.data());
      const int64_t seen = std::clamp<int64_t>(
          a_.mask.kind == HSTU_MASK_FULL ? head.keys : i + head.keys - head.queries + 1, 0, head.keys);
      scores.assign(index(seen), 0.0);
      for (int64_t j = 0; j < seen; ++j) {
        load(a_.k, head.k + j * rows_.k, dim_qk(), key.data());
        for (size_t d = 0; d < key.size(); ++d) scores[index(j)] += query[d] * key[d];
        scores[index(j)] *= static_cast<double>(a_.scale);
      }
      const double lse = to_weights(scores);
      result.assign(index(dim_v()), 0.0);
      for (int64_t j = 0; j < seen; ++j) {
        load(a_.v, head.v + j * rows_.v, dim_v(), value.data());
        for (size_t d = 0; d < value.size(); ++d) result[d] += scores[index(j)] * value[d];
      }
      write(head, i, result, lse);
    }
  }

 private:
  int64_t dim_qk() const { return a_.q.shape[a_.q.rank - 1]; }
  int64_t dim_v() const { return a_.v.shape[a_.v.rank - 1]; }

  Head head_of(int64_t b, int64_t h) const {
    if (jagged_) {
      const int64_t first = integer_at(a_.seq_offsets, b), n = integer_at(a_.seq_offsets, b + 1) - first;
      const auto start = [&](const hstu_tensor& t) { return first * t.stride[0] + h * t.stride[1]; };
      return {start(a_.q),
              start(a_.k),
              start(a_.v),
              start(a_.out),
              h * a_.lse.stride[0] + first * a_.lse.stride[1],
              (first * heads_ + h) * dim_v(),
              heads_ * dim_v(),
              h * a_.q.shape[0] + first,
              n,
              n};
    }
    const auto start = [&](const hstu_tensor& t) { return b * t.stride[0] + h * t.stride[1]; };
    const int64_t queries = a_.q.shape[2], pair = b * heads_ + h;
    return {start(a_.q), start(a_.k),    start(a_.v), start(a_.out), start(a_.lse), pair * queries * dim_v(),
            dim_v(),     pair * queries, queries,     a_.k.shape[2]};
  }

  /// Scores become weights; returns their log-sum-exp.
  static double to_weights(std::vector<double>& scores) {
    if (scores.empty()) return -std::numeric_limits<double>::infinity();
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& s : scores) sum += s = std::exp(s - most);
    for (double& s : scores) s /= sum;
    return most + std::log(sum);
  }

  void write(const Head& head, int64_t i, const std::vector<double>& result, double lse) const {
    if (store_) store(a_.out, head.out + i * rows_.out, dim_v(), result.data());
    if (store_ && present(a_.lse)) store(a_.lse, head.lse + i * rows_.lse, 1, &lse);
    if (exact_out_) std::copy(result.begin(), result.end(), exact_out_ + head.exact + i * head.exact_row);
    if (exact_lse_) exact_lse_[head.exact_lse + i] = lse;
  }

  const Args& a_;
  double *exact_out_, *exact_lse_;
  bool store_, jagged_;
  int64_t heads_, batch_;
  Rows rows_{};
};

}  // namespace

void run(const Args& args, double* const* exact) {
  if (present(args.seq_offsets)) check_offsets("seq_offsets", args.seq_offsets, args.q.shape[0], "total");
  const Call call(args, exact);
  parallel_for(call.tasks(), operator_of(Op::flash_attention).cost(&args).flops, [&](int64_t task) { call.run(task); });
}

}  // namespace reference

}  // namespace hstujit
