// Quantisation to FP8 as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/fp8/fp8_fields.hpp"
#include "problem/fp8/fp8_scales.hpp"
#include "problem/operators.hpp"
#include "support/error.hpp"

#include <cmath>
#include <limits>

namespace hstujit {
namespace {

using Args = hstu_quantize_fp8_args;

constexpr FieldInfo kFields[] = {{"dtype", FieldKind::dtype},        {"fp8", FieldKind::dtype},
                                 {"scaling", FieldKind::exact},      {"columns", FieldKind::exact},
                                 {"vector", FieldKind::exact},       {"static", FieldKind::exact},
                                 {"power_of_two", FieldKind::exact}, {"rows", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"x", offsetof(Args, x), TensorRole::input},
                                   {"q", offsetof(Args, q), TensorRole::output},
                                   {"descale", offsetof(Args, descale), TensorRole::output},
                                   {"amax", offsetof(Args, amax), TensorRole::input},
                                   {"static_descale", offsetof(Args, static_descale), TensorRole::input}};
constexpr ScalarSlot kScalars[] = {{"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
                                   {"amin", offsetof(Args, amin), ScalarSlot::Kind::f32},
                                   {"amax_bound", offsetof(Args, amax_bound), ScalarSlot::Kind::f32},
                                   {"power_of_two", offsetof(Args, power_of_two), ScalarSlot::Kind::i32}};

/// Bounds of a unit's greatest magnitude; defaults are filled in.
void check_bounds(Args& args) {
  constexpr float kLeast = 1e-30f;  // below, quotients of FP8's largest value leave the normal range
  if (args.amin == 0) args.amin = 1e-12f;
  if (!(args.amin >= kLeast) || !std::isfinite(args.amin))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "amin = {}: it must be finite and at least {}; 0 means 1e-12", args.amin, kLeast);
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

OperatorFacts facts_of(const hstu_quantize_fp8_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_quantize_fp8_args& args) {
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

Work work_of(const hstu_quantize_fp8_args& args) {
  const double elements = static_cast<double>(args.x.shape[0]) * static_cast<double>(args.x.shape[1]);
  // Greatest magnitude and product.
  return {.flops = 2 * elements, .bytes = elements * (size_of(args.x.dtype) + 1) + fp8::descale_bytes(args.descale)};
}

void make_edge_case(hstu_quantize_fp8_args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.x, &args.q});
  fp8::shorten_descale(args.descale, args.scaling, rows);
}

}  // namespace hstujit
