// Quantisation to FP8: facts, checks, key, cost and reference. Unlike the other operators it is defined by f32
// roundings, so that results have the same bits everywhere, and the reference follows them.
#include "operators/fp8/quantize_fp8.hpp"

#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_quantize_fp8_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
    {"q", offsetof(Args, q), TensorRole::output, of_rank(2, kFp8)},
    {"descale", offsetof(Args, descale), TensorRole::output, of_rank(1, kF32).or_rank(2, 2)},
    {"amax", offsetof(Args, amax), TensorRole::input, of_rank(1, kF32).or_absent()},
    {"static_descale", offsetof(Args, static_descale), TensorRole::input, of_rank(1, kF32).or_absent()}};
constexpr ScalarSlot kScalars[] = {
    {"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
    {"amin", offsetof(Args, amin), ScalarSlot::Kind::f32, {}, {1e-12f}},
    {"amax_bound", offsetof(Args, amax_bound), ScalarSlot::Kind::f32, {}, {std::numeric_limits<double>::infinity()}},
    {"power_of_two", offsetof(Args, power_of_two), ScalarSlot::Kind::i32}};

/// Bounds of a unit's amax; defaults are filled in.
void check_bounds(Args& args) {
  constexpr float kLeast = 1e-30f;  // below, quotients of FP8's largest value leave the normal range
  args.amin = checks::given_or(args.amin, 1e-12f);
  if (args.amin != 0 && (!(args.amin >= kLeast) || !std::isfinite(args.amin)))
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "amin = {}: it must be finite and at least {}; 0 means 1e-12, and HSTU_EXACT_ZERO 0", args.amin, kLeast);
  if (args.amax_bound == 0) args.amax_bound = std::numeric_limits<float>::infinity();
  if (!(args.amax_bound >= args.amin))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "amax_bound = {}: it must be at least amin = {}; 0 means no bound",
         args.amax_bound, args.amin);
}

/// Where the scale of the whole tensor comes from; true when it is given.
bool check_source(Args& args, const checks::Tensor& q) {
  const bool dynamic = checks::given("amax", args.amax), given = checks::given("static_descale", args.static_descale);
  const bool tensor = args.scaling == HSTU_FP8_TENSOR;
  if (!tensor && (dynamic || given))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there: it belongs to scaling TENSOR; leave it out",
         dynamic ? "amax" : "static_descale");
  if (tensor && dynamic == given)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "amax and static_descale are both {}: scaling TENSOR takes one of them, amax from hstu_fp8_amax for a dynamic "
         "scale",
         dynamic ? "there" : "absent");
  if (dynamic) {
    const checks::Tensor amax = checks::required<1>("amax", args.amax);
    checks::is_f32(amax);
    checks::extent(amax, 0, HSTU_FP8_AMAX_PARTS, "HSTU_FP8_AMAX_PARTS");
    checks::disjoint(q, amax);
  }
  if (given) {
    const checks::Tensor scale = checks::required<1>("static_descale", args.static_descale);
    checks::is_f32(scale);
    checks::extent(scale, 0, 1, "1");
    checks::disjoint(q, scale);
  }
  return given;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {quantize_fp8::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required<2>("x", args.x), q = checks::required<2>("q", args.q);
  checks::floating(x);
  fp8::is_fp8(q);
  checks::extent(q, 0, x.t.shape[0], "x.shape[0]");
  checks::extent(q, 1, x.t.shape[1], "x.shape[1]");
  checks::no_self_overlap(q);
  checks::disjoint(q, x);
  fp8::check_scaling("scaling", args.scaling);
  const checks::Tensor descale = fp8::check_descale("descale", args.descale, args.scaling, x.t.shape[0], x.t.shape[1]);
  checks::no_self_overlap(descale);
  checks::disjoint(descale, x);
  checks::disjoint(descale, q);
  const bool given = check_source(args, q);
  if (present(args.amax)) checks::disjoint(descale, {"amax", args.amax, extent_bytes(args.amax)});
  check_bounds(args);
  checks::flag("power_of_two", args.power_of_two);
  if (given) args.power_of_two = 0;

  Problem problem{Op::quantize_fp8, {}};
  problem[quantize_fp8::kDtype] = x.t.dtype;
  problem[quantize_fp8::kFp8] = q.t.dtype;
  problem[quantize_fp8::kScaling] = args.scaling;
  problem[quantize_fp8::kColumns] = checks::field(x, 1);
  problem[quantize_fp8::kVector] = fp8::vector_of(x.t, q.t);
  problem[quantize_fp8::kStatic] = given;
  problem[quantize_fp8::kPowerOfTwo] = args.power_of_two;
  problem[quantize_fp8::kRows] = bucket(x.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.x.shape[0]) * static_cast<double>(args.x.shape[1]);
  // amax and product.
  return {.flops = 2 * elements, .bytes = elements * (size_of(args.x.dtype) + 1) + fp8::descale_bytes(args.descale)};
}

void make_edge_case(Args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.x, &args.q});
  fp8::shorten_descale(args.descale, args.scaling, rows);
}

namespace reference {
namespace {

constexpr uint32_t kInfinity = 0x7f800000;

struct Scale {
  float descale, multiplier;
};

float largest_of(hstu_dtype fp8) { return fp8 == HSTU_DTYPE_E4M3 ? 448.0f : 57344.0f; }

Scale scale_of(const Args& args, float amax) {
  const float largest = largest_of(args.q.dtype);
  const float size = std::isnan(amax) ? amax : std::max(std::min(amax, args.amax_bound), args.amin);
  Scale scale{size / largest, largest / size};
  if (args.power_of_two) {
    if (std::isfinite(size))
      scale.descale = std::bit_cast<float>((std::bit_cast<uint32_t>(scale.descale) + 0x7fffff) & kInfinity);
    scale.multiplier = 1 / scale.descale;
  }
  if (std::isinf(scale.multiplier)) return {0, 0};
  return scale;
}

/// The scale of the tensor as a whole.
Scale tensor_scale(const Args& args) {
  if (present(args.static_descale)) {
    const float given = *static_cast<const float*>(args.static_descale.data);
    return {given, 1 / given};
  }
  const auto* parts = static_cast<const float*>(args.amax.data);
  float amax = 0;
  for (int i = 0; i < HSTU_FP8_AMAX_PARTS; ++i) amax = greater(amax, static_cast<double>(parts[i]));
  return scale_of(args, amax);
}

class Quantizer {
 public:
  Quantizer(const Args& args, double* const* exact)
      : args_(args), q_(args.q, exact), exact_(exact), descales_(exact ? exact[1] : nullptr) {}

  /// Row `unit_row` of units, of `rows` rows and `columns` columns each.
  void units(int64_t unit_row, const fp8::Unit& unit) const {
    const int64_t first = unit_row * unit.rows, columns = args_.x.shape[1];
    const int64_t count = std::min(unit.rows, args_.x.shape[0] - first);
    const bool flat = args_.scaling == HSTU_FP8_ROW;  // one unit a row, even without columns
    const int64_t units = flat ? 1 : ceil_div(columns, unit.columns);
    std::vector<double> x(static_cast<size_t>(count * columns));
    for (int64_t r = 0; r < count; ++r) load(args_.x, (first + r) * args_.x.stride[0], columns, x.data() + r * columns);
    std::vector<Scale> scales;
    for (int64_t u = 0; u < units; ++u) {
      float amax = 0;
      for (int64_t r = 0; r < count; ++r)
        for (int64_t c = u * unit.columns; c < std::min(columns, (u + 1) * unit.columns); ++c)
          amax = greater(amax, x[static_cast<size_t>(r * columns + c)]);
      scales.push_back(scale_of(args_, amax));
      write_descale(unit_row, u, units, scales.back().descale);
    }
    for (int64_t r = 0; r < count; ++r)
      write_row(first + r, x.data() + r * columns,
                [&](int64_t c) { return scales[static_cast<size_t>(c / unit.columns)]; });
  }

  void tensor(int64_t row, const Scale& scale) const {
    std::vector<double> x(static_cast<size_t>(args_.x.shape[1]));
    load(args_.x, row * args_.x.stride[0], args_.x.shape[1], x.data());
    write_row(row, x.data(), [&](int64_t) { return scale; });
  }

  void write_descale(int64_t row, int64_t column, int64_t columns, float value) const {
    if (descales_) {
      descales_[row * columns + column] = static_cast<double>(value);
    } else if (!exact_) {
      const hstu_tensor& t = args_.descale;
      static_cast<float*>(t.data)[row * t.stride[0] + (t.rank == 2 ? column * t.stride[1] : 0)] = value;
    }
  }

 private:
  template <class ScaleOf>
  void write_row(int64_t row, double* x, const ScaleOf& scale_of_column) const {
    const int64_t columns = args_.x.shape[1];
    for (int64_t c = 0; c < columns; ++c) {
      const float product = static_cast<float>(x[c]) * scale_of_column(c).multiplier;
      x[c] = args_.q.dtype == HSTU_DTYPE_E4M3 ? E4m3::widen(E4m3::round(static_cast<double>(product)))
                                              : E5m2::widen(E5m2::round(static_cast<double>(product)));
    }
    q_.write(row, 0, columns, x);
  }

  const Args& args_;
  const Output q_;
  double* const* exact_;
  double* descales_;
};

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t rows = args.x.shape[0], columns = args.x.shape[1];
  const double operations = 20.0 * static_cast<double>(rows) * static_cast<double>(columns);
  const Quantizer quantizer(args, exact);
  if (args.scaling == HSTU_FP8_TENSOR) {
    const Scale scale = tensor_scale(args);
    quantizer.write_descale(0, 0, 1, scale.descale);
    parallel_for(columns == 0 ? 0 : rows, operations, [&](int64_t row) { quantizer.tensor(row, scale); });
    return;
  }
  const fp8::Unit unit = fp8::unit_of(args.scaling, rows, columns);
  parallel_for(ceil_div(rows, unit.rows), operations, [&](int64_t row) { quantizer.units(row, unit); });
}

}  // namespace reference

}  // namespace hstujit
