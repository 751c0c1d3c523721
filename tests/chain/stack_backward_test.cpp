// The gradient of a stack on the CPU: against differences of the stack itself, and what saving and leaving out may not
// change.
#include "chain/chains.hpp"
#include "support/host_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace hstujit {
namespace {

constexpr hstu_layer_dims kDims{2, 8, 16};
constexpr int64_t kRows = 20, kUsedRows = 18, kEmbedding = 24, kValues = 32, kColumns = 96, kLayers = 2;
constexpr hstu_dtype kDtype = HSTU_DTYPE_F32;

/// What a stack is made of; the gradient follows all of it.
struct Form {
  const char* name;
  std::function<void(hstu_stack_args&)> set;
  bool biases = true;  ///< of the norms behind attention
};

// Its members in their order, so that tests can walk them.
using Members = std::array<hstu_tensor, sizeof(hstu_layer_weights) / sizeof(hstu_tensor)>;
static_assert(sizeof(Members) == sizeof(hstu_layer_weights));
Members& members_of(hstu_layer_weights& weights) { return reinterpret_cast<Members&>(weights); }

class StackBackward : public testing::Test {
 protected:
  void SetUp() override {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.store_path = "";
    ASSERT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
  }
  void TearDown() override { hstu_context_destroy(context_); }

  hstu_tensor random(std::initializer_list<int64_t> shape, double mean = 0, double deviation = 1) {
    return memory_.random(kDtype, shape, {}, mean, deviation);
  }
  void* bytes(size_t count) { return memory_.slab(static_cast<int64_t>(count)).base(); }

  hstu_layer_weights weights(int64_t segments, bool biases) {
    return {random({kEmbedding}, 1, 0.2),
            random({kEmbedding}, 0, 0.2),
            random({kEmbedding, kColumns}, 0, 0.3),
            random({kColumns}, 0, 0.2),
            random({kValues}, 1, 0.2),
            biases ? random({kValues}, 0, 0.2) : hstu_tensor{},
            random({segments * kValues, kEmbedding}, 0, 0.2)};
  }

  hstu_stack_args forward(const Form& form) {
    hstu_stack_args args{};
    args.struct_size = sizeof args;
    args.x = random({kRows, kEmbedding});
    args.out = memory_.poison(kDtype, {kRows, kEmbedding});
    args.num_layers = kLayers;
    args.dims = kDims;
    args.attention.seq_offsets = memory_.integers(HSTU_DTYPE_I64, {0, 7, 7, kUsedRows});
    args.attention.mask.num_targets = memory_.integers(HSTU_DTYPE_I32, {2, 0, 3});
    args.attention.max_seq_len = 11;
    args.output.concat_u = args.output.concat_x = 1;
    form.set(args);
    const int64_t segments = 1 + args.output.concat_u + args.output.concat_x;
    layers_ = {weights(segments, form.biases), weights(segments, form.biases)};
    args.layers = layers_.data();
    args.layer_size = sizeof(hstu_layer_weights);
    EXPECT_EQ(hstu_stack_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = bytes(args.workspace_size);
    return args;
  }
  /// The same with room to keep what the gradient reads.
  hstu_stack_args saving(hstu_stack_args args, uint32_t recompute = 0) {
    args.recompute = recompute;
    EXPECT_EQ(hstu_stack_saved_size(context_, &args, &args.saved_size), HSTU_OK) << hstu_last_error();
    args.saved = bytes(args.saved_size);
    EXPECT_EQ(hstu_stack_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = bytes(args.workspace_size);
    return args;
  }

  hstu_stack_backward_args backward(const hstu_stack_args& forward) {
    hstu_stack_backward_args args{};
    args.struct_size = sizeof args;
    args.forward = forward;
    args.dout = random({kRows, kEmbedding});
    args.dx = memory_.poison(kDtype, {kRows, kEmbedding});
    gradients_ = layers_;
    for (hstu_layer_weights& layer : gradients_)
      for (hstu_tensor& t : members_of(layer))
        if (t.dtype != HSTU_DTYPE_NONE)
          t = t.rank == 1 ? memory_.poison(kDtype, {t.shape[0]}) : memory_.poison(kDtype, {t.shape[0], t.shape[1]});
    args.gradients = gradients_.data();
    args.gradient_size = sizeof(hstu_layer_weights);
    EXPECT_EQ(hstu_stack_backward_workspace_size(context_, &args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = bytes(args.workspace_size);
    return args;
  }

  void run(const hstu_stack_args& args) {
    ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  }
  void run(const hstu_stack_backward_args& args) {
    ASSERT_EQ(hstu_stack_backward(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  }

  /// A copy of a matrix that lies column by column.
  hstu_tensor row_by_row(const hstu_tensor& matrix) {
    const hstu_tensor copy = memory_.poison(kDtype, {matrix.shape[0], matrix.shape[1]});
    for (int64_t row = 0; row < copy.shape[0]; ++row)
      for (int64_t column = 0; column < copy.shape[1]; ++column)
        static_cast<float*>(copy.data)[row * copy.shape[1] + column] =
            static_cast<const float*>(matrix.data)[column * matrix.stride[1] + row];
    return copy;
  }

  /// dx and all gradients of parameters, one after the other; of dx the rows that count.
  std::vector<double> all_of(const hstu_stack_backward_args& args) {
    std::vector<double> all = test::values(test::rows_of(args.dx, 0, kUsedRows));
    for (hstu_layer_weights& layer : gradients_)
      for (const hstu_tensor& t : members_of(layer)) {
        const std::vector<double> more = test::values(t);
        all.insert(all.end(), more.begin(), more.end());
      }
    return all;
  }

  test::HostMemory memory_{7};
  std::vector<hstu_layer_weights> layers_, gradients_;
  hstu_context* context_ = nullptr;
};

const Form kForms[] = {
    {"dlrm_v3", [](hstu_stack_args&) {}},
    {"softmax_heads", [](hstu_stack_args& args) { args.attention.num_softmax_heads = 1; }},
    {"rms", [](hstu_stack_args& args) { args.output.norm = HSTU_NORM_RMS; }, false},
    {"product_alone", [](hstu_stack_args& args) { args.output.concat_u = args.output.concat_x = 0; }},
    {"dropout",
     [](hstu_stack_args& args) {
       args.output.dropout_ratio = 0.25f;
       args.output.seed = 12;
     }},
    {"silu_u_and_sigmoid",
     [](hstu_stack_args& args) {
       args.output.silu_u = 1;
       args.output.activation = HSTU_ACTIVATION_SIGMOID;
     }},
    {"windows", [](hstu_stack_args& args) { args.attention.mask.max_attn_len = 3; }}};

class OfForm : public StackBackward, public testing::WithParamInterface<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, OfForm, testing::ValuesIn(kForms),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(OfForm, SavingChangesNoBitOfTheResult) {
  const hstu_stack_args plain = forward(GetParam());
  run(plain);
  const std::vector<double> expected = test::values(test::rows_of(plain.out, 0, kUsedRows));
  for (const uint32_t recompute : {0, 1, 7}) {
    const hstu_stack_args args = saving(plain, recompute);
    test::fill(args.out, 0);
    run(args);
    EXPECT_EQ(test::values(test::rows_of(args.out, 0, kUsedRows)), expected) << recompute;
  }
}

TEST_P(OfForm, WhatIsComputedAgainChangesNoBit) {
  const hstu_stack_args plain = forward(GetParam());
  std::vector<double> expected;
  const hstu_tensor dout = random({kRows, kEmbedding});
  for (const uint32_t recompute : {0, 1, 2, 4, 7}) {
    const hstu_stack_args saved = saving(plain, recompute);
    run(saved);
    hstu_stack_backward_args args = backward(saved);
    args.dout = dout;
    run(args);
    const std::vector<double> got = all_of(args);
    if (expected.empty()) expected = got;
    EXPECT_EQ(got, expected) << recompute;
  }
}

/// sum(out * dout) over the rows that count.
double loss_of(const hstu_stack_args& args, const hstu_tensor& dout) {
  const std::vector<double> out = test::values(test::rows_of(args.out, 0, kUsedRows)),
                            slopes = test::values(test::rows_of(dout, 0, kUsedRows));
  double sum = 0;
  for (size_t i = 0; i < out.size(); ++i) sum += out[i] * slopes[i];
  return sum;
}

/// Adds step * direction to a contiguous tensor.
void move_along(const hstu_tensor& t, const std::vector<double>& from, const std::vector<double>& direction,
                double step) {
  for (size_t i = 0; i < from.size(); ++i)
    static_cast<float*>(t.data)[i] = static_cast<float>(from[i] + step * direction[i]);
}

TEST_P(OfForm, IsTheSlopeOfTheStack) {
  const hstu_stack_args saved = saving(forward(GetParam()));
  run(saved);
  const hstu_stack_backward_args args = backward(saved);
  run(args);

  const auto expect_slope = [&](const std::string& name, const hstu_tensor& t, const hstu_tensor& gradient) {
    const std::vector<double> from = test::values(t), slopes = test::values(gradient);
    std::vector<double> direction(from.size());
    double norm = 0, along = 0, size = 0;
    for (double& d : direction) {
      d = static_cast<double>(memory_.random_numbers().bell());
      norm += d * d;
    }
    for (size_t i = 0; i < from.size(); ++i) along += slopes[i] * (direction[i] /= std::sqrt(norm));
    for (const double s : slopes) size += s * s;
    const auto at = [&](double step) {
      move_along(t, from, direction, step);
      run(saved);
      return loss_of(saved, args.dout);
    };
    constexpr double kStep = 0.02;
    const double near = (at(kStep) - at(-kStep)) / (2 * kStep), far = (at(2 * kStep) - at(-2 * kStep)) / (4 * kStep);
    at(0);
    EXPECT_NEAR((4 * near - far) / 3, along, 2e-3 * std::sqrt(size)) << name;
  };
  expect_slope("x", test::rows_of(saved.x, 0, kUsedRows), test::rows_of(args.dx, 0, kUsedRows));
  for (size_t layer = 0; layer < kLayers; ++layer)
    for (size_t i = 0; i < members_of(layers_[layer]).size(); ++i)
      if (members_of(layers_[layer])[i].dtype != HSTU_DTYPE_NONE)
        expect_slope("layers[" + std::to_string(layer) + "], member " + std::to_string(i),
                     members_of(layers_[layer])[i], members_of(gradients_[layer])[i]);
}

TEST_F(StackBackward, GradientsDoNotDependOnWhichOthersAreWanted) {
  const hstu_stack_args saved = saving(forward(kForms[0]));
  run(saved);
  hstu_stack_backward_args args = backward(saved);
  run(args);
  const std::vector<double> dx = test::values(test::rows_of(args.dx, 0, kUsedRows));
  std::vector<hstu_layer_weights> all = gradients_;

  const hstu_tensor other_dx = memory_.poison(kDtype, {kRows, kEmbedding});
  hstu_stack_backward_args alone = args;
  alone.gradients = nullptr;
  alone.gradient_size = 0;
  alone.dx = other_dx;
  run(alone);
  EXPECT_EQ(test::values(test::rows_of(other_dx, 0, kUsedRows)), dx);

  for (size_t layer = 0; layer < kLayers; ++layer)
    for (size_t i = 0; i < members_of(all[layer]).size(); ++i) {
      const hstu_tensor& expected = members_of(all[layer])[i];
      std::vector<hstu_layer_weights> one(kLayers);
      hstu_tensor& t = members_of(one[layer])[i];
      t = expected.rank == 1 ? memory_.poison(kDtype, {expected.shape[0]})
                             : memory_.poison(kDtype, {expected.shape[0], expected.shape[1]});
      hstu_stack_backward_args of_one = args;
      of_one.dx = {};
      of_one.gradients = one.data();
      run(of_one);
      EXPECT_EQ(test::values(t), test::values(expected)) << layer << ", " << i;
    }
}

TEST_F(StackBackward, StepsThatNobodyWantsAreLeftOut) {
  const hstu_stack_args saved = saving(forward(kForms[0]));
  hstu_stack_backward_args args = backward(saved);
  const chain::Chain& chain = *chain::chain_named("stack_backward");
  const auto steps = [&] {
    std::array<int, kLayers> count{};
    chain.visit(&args, chain::Fusing(chain::FusedStages{}),
                [&](int64_t part, const chain::Step&) { ++count[static_cast<size_t>(part)]; });
    return count;
  };
  EXPECT_EQ(steps(), (std::array<int, kLayers>{10, 10}));
  args.gradients = nullptr;
  EXPECT_EQ(steps(), (std::array<int, kLayers>{8, 8})) << "dx alone: no products for weights";
  args.dx = {};
  EXPECT_EQ(steps(), (std::array<int, kLayers>{0, 0}));
  ASSERT_EQ(hstu_stack_backward(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  std::vector<hstu_layer_weights> top(kLayers);
  top[1] = gradients_[1];
  args.gradients = top.data();
  EXPECT_EQ(steps(), (std::array<int, kLayers>{0, 10})) << "frozen layers at the bottom";
  top[1] = {};
  top[1].output_weight = gradients_[1].output_weight;
  EXPECT_EQ(steps(), (std::array<int, kLayers>{0, 2}));
  args.forward.recompute = HSTU_RECOMPUTE_UVQK;
  ASSERT_EQ(hstu_stack_backward_workspace_size(context_, &args, &args.workspace_size), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(steps(), (std::array<int, kLayers>{0, 4}));
}

TEST_F(StackBackward, AddsToGradientsThatAreThere) {
  const hstu_stack_args saved = saving(forward(kForms[0]));
  run(saved);
  hstu_stack_backward_args args = backward(saved);
  run(args);
  std::vector<std::vector<double>> once;
  for (hstu_layer_weights& layer : gradients_)
    for (const hstu_tensor& t : members_of(layer)) once.push_back(test::values(t));
  args.accumulate = 1;
  run(args);
  size_t at = 0;
  for (hstu_layer_weights& layer : gradients_)
    for (const hstu_tensor& t : members_of(layer)) {
      const std::vector<double> twice = test::values(t), &first = once[at++];
      for (size_t i = 0; i < twice.size(); ++i) EXPECT_NEAR(twice[i], 2 * first[i], 1e-5 * (1 + std::abs(first[i])));
    }
}

TEST_F(StackBackward, RowsPastTheLastSequenceEnterNothing) {
  const hstu_stack_args saved = saving(forward(kForms[0]));
  run(saved);
  hstu_stack_backward_args args = backward(saved);
  test::fill(test::rows_of(args.dout, kUsedRows, kRows - kUsedRows), 0);
  run(args);
  const std::vector<double> expected = all_of(args);
  for (const double value : {1e30, std::nan("")}) {
    test::fill(test::rows_of(saved.x, kUsedRows, kRows - kUsedRows), value);
    test::fill(test::rows_of(args.dout, kUsedRows, kRows - kUsedRows), value);
    run(saved);
    run(args);
    EXPECT_EQ(all_of(args), expected) << value;
  }
}

TEST_F(StackBackward, MayWriteItsGradientOverTheOneItIsGiven) {
  const hstu_stack_args saved = saving(forward(kForms[0]));
  run(saved);
  hstu_stack_backward_args args = backward(saved);
  run(args);
  const std::vector<double> expected = all_of(args);
  args.dx = args.dout;
  run(args);
  EXPECT_EQ(all_of(args), expected);
}

TEST_F(StackBackward, WeightsThatLieColumnByColumnHaveSuchGradients) {
  const hstu_stack_args plain = forward(kForms[0]);
  const hstu_stack_args saved = saving(plain);
  run(saved);
  hstu_stack_backward_args args = backward(saved);
  run(args);
  const std::vector<double> expected = all_of(args);
  for (hstu_layer_weights& layer : gradients_)
    for (hstu_tensor* t : {&layer.uvqk_weight, &layer.output_weight})
      *t = test::transposed(memory_.poison(kDtype, {t->shape[1], t->shape[0]}));
  run(args);
  for (hstu_layer_weights& layer : gradients_)
    for (hstu_tensor* t : {&layer.uvqk_weight, &layer.output_weight}) *t = row_by_row(*t);
  EXPECT_EQ(all_of(args), expected);
}

TEST_F(StackBackward, OneLayerReadsOneParameterSet) {
  hstu_stack_args plain = forward(kForms[0]);
  plain.num_layers = 1;
  const hstu_stack_args saved = saving(plain);
  ASSERT_EQ(hstu_layer(context_, &saved, nullptr), HSTU_OK) << hstu_last_error();
  hstu_stack_backward_args args = backward(saved);
  run(args);
  const std::vector<double> expected = test::values(test::rows_of(args.dx, 0, kUsedRows));
  test::fill(args.dx, 0);
  args.forward.num_layers = -3;
  ASSERT_EQ(hstu_layer_backward(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(test::values(test::rows_of(args.dx, 0, kUsedRows)), expected);
}

// U: one [rows, embedding] tensor.
TEST_F(StackBackward, KeepsSixTensorsALayerAndTwoWhereTheProjectionIsComputedAgain) {
  hstu_stack_args args{};
  args.struct_size = sizeof args;
  constexpr int64_t kMany = 98304, kWide = 512;
  args.x = hstu_matrix(nullptr, HSTU_DTYPE_BF16, kMany, kWide);
  args.dims = {4, 128, 128};
  args.num_layers = 5;
  const auto per_layer = [&](uint32_t recompute) {
    args.recompute = recompute;
    size_t size = 0;
    EXPECT_EQ(hstu_stack_saved_size(context_, &args, &size), HSTU_OK) << hstu_last_error();
    return static_cast<double>(size) / static_cast<double>(5 * kMany * kWide * 2);
  };
  EXPECT_LE(per_layer(0), 6.05);
  EXPECT_GE(per_layer(0), 5.5) << "of the first layer x is the caller's";
  EXPECT_LE(per_layer(HSTU_RECOMPUTE_UVQK), 2.05);
  args.num_layers = 0;
  size_t size = 0;
  EXPECT_EQ(hstu_stack_saved_size(context_, &args, &size), HSTU_ERROR_INVALID_ARGUMENT);
}

TEST_F(StackBackward, NamesTheFieldItRefuses) {
  const hstu_stack_args saved = saving(forward(kForms[0]));
  const hstu_stack_backward_args good = backward(saved);
  const struct {
    std::function<void(hstu_stack_backward_args&)> spoil;
    hstu_status status;
    const char* text;
  } cases[] = {
      {[](auto& a) { a.dout.shape[1] = 7; }, HSTU_ERROR_SHAPE_MISMATCH, "dout.shape[1] = 7"},
      {[](auto& a) { a.dout.dtype = HSTU_DTYPE_BF16; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "dout"},
      {[](auto& a) { a.dx.shape[0] = 3; }, HSTU_ERROR_SHAPE_MISMATCH, "dx.shape[0] = 3"},
      {[](auto& a) { a.forward.saved = nullptr; }, HSTU_ERROR_INVALID_ARGUMENT, "saved"},
      {[](auto& a) { a.forward.saved_size -= 1; }, HSTU_ERROR_INVALID_ARGUMENT, "saved_size"},
      {[](auto& a) { a.forward.recompute = 8; }, HSTU_ERROR_INVALID_ARGUMENT, "recompute = 8"},
      {[](auto& a) { a.gradient_size = 8; }, HSTU_ERROR_INVALID_ARGUMENT, "gradient_size = 8"},
      {[](auto& a) { a.forward.layers = nullptr; }, HSTU_ERROR_INVALID_ARGUMENT, "layers = NULL"},
      {[](auto& a) { a.workspace_size -= 256; }, HSTU_ERROR_INVALID_ARGUMENT, "workspace_size"},
      {[](auto& a) { a.forward.struct_size = 8; }, HSTU_ERROR_INVALID_ARGUMENT, "forward.struct_size = 8"},
      {[](auto& a) { a.accumulate = 2; }, HSTU_ERROR_INVALID_ARGUMENT, "accumulate = 2"},
      {[](auto& a) { a.forward.attention.seq_offsets = {}; }, HSTU_ERROR_INVALID_ARGUMENT, "seq_offsets"},
  };
  for (const auto& refused : cases) {
    hstu_stack_backward_args args = good;
    refused.spoil(args);
    EXPECT_EQ(hstu_stack_backward(context_, &args, nullptr), refused.status)
        << refused.text << ": " << hstu_last_error();
    EXPECT_NE(std::string(hstu_last_error()).find(refused.text), std::string::npos) << hstu_last_error();
  }
  std::vector<hstu_layer_weights> wrong = gradients_;
  wrong[0].uvqk_weight.shape[1] = 7;
  hstu_stack_backward_args args = good;
  args.gradients = wrong.data();
  EXPECT_EQ(hstu_stack_backward(context_, &args, nullptr), HSTU_ERROR_SHAPE_MISMATCH);
  EXPECT_NE(std::string(hstu_last_error()).find("layers[0]: gradient of uvqk_weight"), std::string::npos)
      << hstu_last_error();
}

TEST_F(StackBackward, AStackThatCannotSaveSaysSo) {
  const hstu_stack_args good = saving(forward(kForms[0]));
  const struct {
    std::function<void(hstu_stack_args&)> spoil;
    const char* text;
  } cases[] = {{[](auto& a) { a.out = a.x; }, "out shares memory with x"},
               {[](auto& a) { a.saved = nullptr; }, "saved_size"},
               {[](auto& a) { a.saved_size -= 1; }, "saved_size"},
               {[](auto& a) { a.saved = static_cast<char*>(a.saved) + 4; }, "saved"},
               {[](auto& a) { a.recompute = 16; }, "recompute = 16"}};
  for (const auto& refused : cases) {
    hstu_stack_args args = good;
    refused.spoil(args);
    EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT) << refused.text;
    EXPECT_NE(std::string(hstu_last_error()).find(refused.text), std::string::npos) << hstu_last_error();
  }
}

}  // namespace
}  // namespace hstujit
