#include "operators/dense/product_terms.hpp"

#include "operators/fp8/fp8_scales.hpp"
#include "support/error.hpp"
#include "tile/addmm_terms.h"

namespace hstujit {

Operand operand_of(hstu_tensor& t, int k) {
  int contiguous = 1;
  if (t.stride[1] != 1) {
    if (t.stride[0] != 1 && t.shape[0] > 1) return {};
    t.stride[0] = 1;
    contiguous = 0;
  }
  checks::Vector vector(t.dtype);
  vector.address(t).length(t.stride[1 - contiguous]).length(t.shape[contiguous]);
  vector.lines(t.shape[1 - contiguous], t.stride[1 - contiguous], t.shape[contiguous]);
  return {contiguous == k, vector.elements()};
}

}  // namespace hstujit

namespace hstujit::product_terms {

using hstu::kNoBias, hstu::kResidual, hstu::kRowBias;

Outputs::Outputs(const Names& names, const checks::Tensor& first, hstu_tensor* const (&parts)[4], int64_t rows,
                 int64_t columns)
    : vector(fp8::stores(first.t.dtype) ? checks::Vector(16) : checks::Vector(first.t.dtype)),
      names_(names),
      parts_(parts),
      rows_(rows),
      columns_(columns) {
  bool there[4] = {true};
  for (int i = 1; i < 4; ++i) {
    there[i] = checks::given(names.parts[i], *parts[i]);
    if (there[i] && !there[i - 1])
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there without {}", names.parts[i], names.parts[i - 1]);
  }
  add(first, there[1]);
  for (int i = 1; i < 4 && there[i]; ++i) {
    const checks::Tensor part = checks::required<2>(names.parts[i], *parts[i]);
    checks::same_dtype(part, first);
    add(part, i < 3 && there[i + 1]);
  }
  if (first_ != columns) {
    if (whole()) checks::extent(first, 1, columns, names.columns);
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}, {}, ... have {} columns together: they must have {} = {}", names.parts[0],
         names.parts[1], first_, names.columns, columns);
  }
  for (int i = 0; i < count_; ++i)
    for (int j = 0; j < i; ++j) checks::disjoint(part(i), part(j));
}

void Outputs::add(const checks::Tensor& part, bool another_follows) {
  checks::extent(part, 0, rows_, names_.rows);
  checks::no_self_overlap(part);
  vector.tensor(part.t);
  bytes_[count_++] = part.bytes;
  if (__builtin_add_overflow(first_, part.t.shape[1], &first_))
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[1] = {}: with the columns before it overflows", part.name,
         part.t.shape[1]);
  if (another_follows) {
    cut_.length(first_);
    split = cut_.elements();
    vector.length(first_);
  }
}

int32_t Outputs::check_bias(hstu_tensor& t, bool any_strides) const {
  if (!checks::given("bias", t)) return kNoBias;
  if (t.rank == 2) fail(HSTU_ERROR_INVALID_ARGUMENT, "bias.rank = 2: it must be 1, a row; a matrix is a residual");
  const checks::Tensor bias = any_strides ? checks::required_any_strides<1>("bias", t) : checks::required<1>("bias", t);
  checks::floating(bias);
  checks::extent(bias, 0, columns_, "n");
  disjoint_from(bias);
  return kRowBias;
}

int32_t Outputs::check_residual(hstu_tensor& t, bool any_strides) const {
  if (!checks::given("residual", t)) return kNoBias;
  const checks::Tensor residual =
      any_strides ? checks::required_any_strides<2>("residual", t) : checks::required<2>("residual", t);
  checks::floating(residual);
  if (!quantised()) checks::same_dtype(residual, part(0));
  checks::extent(residual, 0, rows_, names_.rows);
  checks::extent(residual, 1, columns_, names_.columns);
  if (whole() && !quantised())
    checks::disjoint_or_same(part(0), residual);
  else
    disjoint_from(residual);
  return kResidual;
}

bool Outputs::quantised() const { return fp8::stores(parts_[0]->dtype); }

void Outputs::check_descale(hstu_tensor& t) const {
  if (const auto descale = product_terms::check_descale(names_.descale, t, part(0))) disjoint_from(*descale);
}

std::optional<checks::Tensor> check_descale(const char* name, hstu_tensor& t, const checks::Tensor& out) {
  const bool there = checks::given(name, t);
  if (there != fp8::stores(out.t.dtype))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is {}: it belongs to {} in e4m3 or e5m2, and {}.dtype = {}", name,
         there ? "there" : "absent", out.name, out.name, name_of(out.t.dtype));
  if (!there) return std::nullopt;
  const checks::Tensor descale = checks::required<1>(name, t);
  checks::is_f32(descale);
  checks::extent(descale, 0, 1, "1");
  return descale;
}

void check_activation(const Names& names, Activations covered, const hstu_activation& activation, int64_t& columns,
                      int64_t n) {
  const int value = checks::code(activation);
  const bool gelu = value == HSTU_ACTIVATION_GELU || value == HSTU_ACTIVATION_GELU_TANH;
  if (value != HSTU_ACTIVATION_NONE && value != HSTU_ACTIVATION_SILU && (!gelu || covered == Activations::silu))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation = {}: {} covers NONE (0){}", value, names.op,
         covered == Activations::silu ? " and SILU (1)" : ", SILU (1), GELU (3) and GELU_TANH (4)");
  checks::not_negative("activation_columns", columns, "0 means all columns");
  if (columns > n)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation_columns = {}: {} has n = {} columns; 0 means all of them", columns,
         names.parts[0], n);
  if (columns == 0) columns = n;
}

}  // namespace hstujit::product_terms
