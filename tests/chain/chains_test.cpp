// The table of chains: what everybody who handles any chain asks of each. Without memory: addresses are made up.
#include "chain/chains.hpp"

#include "capi/fake_gpu.hpp"
#include "operators/movable_args.hpp"
#include "support/files.hpp"
#include "support/scoped_env.hpp"
#include "support/source_dir.hpp"
#include "support/tool_process.hpp"

#include <fmt/format.h>

#include <map>

namespace hstujit {
namespace {

using chain::Chain;
using chain::chains;
using chain::FusedStages;
using chain::Fusing;
using chain::Step;

constexpr int64_t kRows = 64, kEmbedding = 96, kHeads = 2, kDim = 32;
constexpr hstu_layer_dims kDims{kHeads, kDim, kDim};

void* address(int place) { return reinterpret_cast<void*>(uintptr_t{1 + static_cast<unsigned>(place)} << 40); }
hstu_tensor matrix(int place, int64_t m, int64_t n) { return hstu_matrix(address(place), HSTU_DTYPE_BF16, m, n); }
hstu_tensor vector(int place, int64_t n) { return hstu_vector(address(place), HSTU_DTYPE_BF16, n); }

template <class Args>
Args with_workspace(Args args) {
  args.workspace_size = chain::workspace_size(args);
  args.workspace = address(60);
  return args;
}

hstu_compute_uvqk_args sample(const hstu_compute_uvqk_args*) {
  const int64_t columns = hstu_uvqk_columns(kDims);
  auto args = sized<hstu_compute_uvqk_args>();
  args.x = matrix(0, kRows, kEmbedding);
  args.norm_weight = vector(1, kEmbedding);
  args.norm_bias = vector(2, kEmbedding);
  args.uvqk_weight = matrix(3, kEmbedding, columns);
  args.uvqk = matrix(4, kRows, columns);
  args.dims = kDims;
  return with_workspace(args);
}

hstu_attention_args attention() {
  hstu_attention_args args{};
  args.seq_offsets = hstu_vector(address(10), HSTU_DTYPE_I64, 3);
  args.max_seq_len = 40;
  return args;
}

hstu_preprocess_and_attention_args sample(const hstu_preprocess_and_attention_args*) {
  auto args = sized<hstu_preprocess_and_attention_args>();
  args.uvqk = sample(static_cast<const hstu_compute_uvqk_args*>(nullptr));
  args.attention = attention();
  args.attention.out = hstu_heads(address(11), HSTU_DTYPE_BF16, kRows, kHeads, kDim);
  return with_workspace(args);
}

hstu_compute_output_args sample(const hstu_compute_output_args*) {
  const int64_t dim = kHeads * kDim;
  auto args = sized<hstu_compute_output_args>();
  args.attn = matrix(0, kRows, dim);
  args.u = matrix(1, kRows, dim);
  args.residual = matrix(2, kRows, kEmbedding);
  args.norm_weight = vector(3, dim);
  args.norm_bias = vector(4, dim);
  args.output_weight = matrix(5, 3 * dim, kEmbedding);
  args.out = matrix(6, kRows, kEmbedding);
  args.options.concat_u = args.options.concat_x = 1;
  return with_workspace(args);
}

hstu_stack_args sample(const hstu_stack_args*) {
  const int64_t dim = kHeads * kDim, columns = hstu_uvqk_columns(kDims);
  static const hstu_layer_weights layer{
      vector(20, kEmbedding), vector(21, kEmbedding), matrix(22, kEmbedding, columns), vector(23, columns),
      vector(24, dim),        vector(25, dim),        matrix(26, 3 * dim, kEmbedding)};
  static const hstu_layer_weights layers[] = {layer, layer};
  auto args = sized<hstu_stack_args>();
  args.x = matrix(0, kRows, kEmbedding);
  args.out = matrix(1, kRows, kEmbedding);
  args.layers = layers;
  args.layer_size = sizeof(hstu_layer_weights);
  args.num_layers = 2;
  args.dims = kDims;
  args.attention = attention();
  args.output.concat_u = args.output.concat_x = 1;
  return with_workspace(args);
}

hstu_fp8_linear_args sample(const hstu_fp8_linear_args*) {
  auto args = sized<hstu_fp8_linear_args>();
  args.x = matrix(0, kRows, 128);
  args.w = hstu_matrix(address(1), HSTU_DTYPE_E4M3, kEmbedding, 128);
  args.w_descale = hstu_vector(address(2), HSTU_DTYPE_F32, kEmbedding);
  args.out = matrix(3, kRows, kEmbedding);
  args.x_scaling = args.w_scaling = HSTU_FP8_ROW;
  return with_workspace(args);
}

/// The samples' bytes, one of each chain of the map: a chain without one does not compile.
const std::vector<std::byte>& sample_of(const Chain& chain) {
  static const auto bytes = [](const auto& args) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&args);
    return std::vector<std::byte>(begin, begin + sizeof args);
  };
#define HSTUJIT_SAMPLE(name, args_type, function) {#name, bytes(sample(static_cast<const args_type*>(nullptr)))},
  static const std::map<std::string_view, std::vector<std::byte>> all = {HSTUJIT_CHAIN_MAP(HSTUJIT_SAMPLE)};
#undef HSTUJIT_SAMPLE
  return all.at(chain.name);
}

size_t first_tensor_of(const Chain& chain) {
  return chain.name == "preprocess_and_attention" ? offsetof(hstu_preprocess_and_attention_args, uvqk.x)
                                                  : sizeof(size_t);
}

std::vector<std::string> steps_of(const Chain& chain, const Fusing& fusing) {
  std::vector<std::byte> args = sample_of(chain);
  std::vector<std::string> names;
  chain.visit(args.data(), fusing, [&](int64_t part, const Step& step) {
    names.push_back(fmt::format("{}:{}:{}", part, step.name, name_of(step.problem.op)));
  });
  return names;
}

class EveryChain : public testing::TestWithParam<const Chain*> {};

TEST_P(EveryChain, HasStepsThatArePreparedWithoutMemory) {
  const Chain& chain = *GetParam();
  std::vector<std::byte> args = sample_of(chain);
  int steps = 0;
  chain.visit(args.data(), Fusing(FusedStages{}), [&](int64_t, const Step& step) {
    ++steps;
    const Operator& op = operator_of(step.problem.op);
    ArgsBytes again;
    std::memcpy(again.data(), step.args, op.args_size);
    EXPECT_EQ(op.prepare(again.data()), step.problem) << chain.name << ": " << step.name;
    EXPECT_EQ(step.plan, nullptr);
  });
  EXPECT_GE(steps, 2);
}

TEST_P(EveryChain, IsCalledAsItsFunctionAndHasAWorkspace) {
  const Chain& chain = *GetParam();
  EXPECT_EQ(chain::chain_named(chain.name), &chain);
  EXPECT_FALSE(op_named(chain.name)) << "the name of an operator, too";
  std::string header, fp8;
  ASSERT_EQ(read_file((test::source_dir() / "include/hstujit/layer.h").string(), header), 0);
  ASSERT_EQ(read_file((test::source_dir() / "include/hstujit/fp8.h").string(), fp8), 0);
  const std::string function = fmt::format("HSTU_API hstu_status hstu_{}(hstu_context* context,", chain.name);
  EXPECT_NE((header + fp8).find(function), std::string::npos) << function;
  EXPECT_GT(chain.workspace_size(sample_of(chain).data()), 0u);
}

/// The text of a refusal, or "".
std::string refusal(hstu_status status) { return status == HSTU_OK ? "" : hstu_last_error(); }

TEST_P(EveryChain, IsTakenWithoutBeingMadeReady) {
  const Chain& chain = *GetParam();
  for (const char* device : {"sm_80", "sm_90a", "cpu"}) {
    SCOPED_TRACE(device);
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = device;
    options.store_path = options.system_store_path = "";
    hstu_context* context = nullptr;
    ASSERT_EQ(hstu_context_create(&context, &options), HSTU_OK) << hstu_last_error();
    std::vector<std::byte> args = sample_of(chain);
    const auto takes = [&] { return hstu_context_takes(context, chain.name.data(), args.data()); };
    const auto plan = [&] {
      hstu_plan* made = nullptr;
      return hstu_plan_get(&made, context, chain.name.data(), args.data(), nullptr);
    };
    EXPECT_EQ(takes(), HSTU_OK) << hstu_last_error();

    // The first tensor, x or what stands for it, in a type and then in a shape that no step takes.
    auto& first = *reinterpret_cast<hstu_tensor*>(args.data() + first_tensor_of(chain));
    first.dtype = HSTU_DTYPE_I32;
    EXPECT_EQ(takes(), HSTU_ERROR_UNSUPPORTED_DTYPE) << hstu_last_error();
    const std::string of_takes = refusal(takes()), of_plan = refusal(plan());
    EXPECT_EQ(of_takes, of_plan);
    first.dtype = HSTU_DTYPE_BF16;
    first.shape[1] += 8;
    EXPECT_EQ(takes(), plan());
    EXPECT_NE(takes(), HSTU_OK);

    hstu_counters counters{};
    counters.struct_size = sizeof counters;
    ASSERT_EQ(hstu_context_counters(context, &counters), HSTU_OK);
    EXPECT_EQ(counters.compiles + counters.plans, 0);
    hstu_context_destroy(context);
  }
}

std::vector<const Chain*> all_chains() {
  std::vector<const Chain*> all;
  for (const Chain& chain : chains()) all.push_back(&chain);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Chains, EveryChain, testing::ValuesIn(all_chains()),
                         [](const auto& c) { return std::string(c.param->name); });

TEST(Chains, KeepLittleOfAThread) {
  size_t bytes = 0;
  for (const Chain& chain : chains()) bytes += chain.thread_bytes;
  EXPECT_LE(bytes, chain::kMostThreadBytes);
  EXPECT_EQ(chain::chain_named("layers"), nullptr);
}

TEST(Chains, FuseWhatIsAskedFor) {
  const Chain& stack = *chain::chain_named("stack");
  using Names = std::vector<std::string>;
  EXPECT_EQ(steps_of(stack, Fusing(FusedStages{})),
            (Names{"0:layer norm:layer_norm", "0:UVQK projection:addmm", "0:attention:attention", "0:norm * u:norm_mul",
                   "0:output projection:addmm", "1:layer norm:layer_norm", "1:UVQK projection:addmm",
                   "1:attention:attention", "1:norm * u:norm_mul", "1:output projection:addmm"}));
  EXPECT_EQ(
      steps_of(stack, Fusing(FusedStages{.uvqk = true, .output = true})),
      (Names{"0:layer norm and UVQK projection:norm_addmm", "0:attention:attention", "0:output stage:gated_addmm",
             "1:layer norm and UVQK projection:norm_addmm", "1:attention:attention", "1:output stage:gated_addmm"}));
  EXPECT_EQ(steps_of(stack, Fusing(*facts_of_target("sm_90a"))).size(), 10u) << "few rows do not fill the device";
}

// ---- Plans of chains

class PlanOfAChain : public StackCalls {
 protected:
  int64_t launches_of(const hstu_plan* plan, const void* args) {
    const int64_t before = fake_->launches();
    EXPECT_EQ(hstu_plan_launch(const_cast<hstu_plan*>(plan), args, nullptr), HSTU_OK) << hstu_last_error();
    return fake_->launches() - before;
  }

 private:
  const test::ScopedEnv nvrtc_{"HSTUJIT_LIBNVRTC", test::fake_nvrtc_path().c_str()};
};

TEST_F(PlanOfAChain, MakesAllStepsReadyAndLaunchesThem) {
  open("");
  for (const Chain& chain : chains()) {
    const std::vector<std::byte>& args = sample_of(chain);
    hstu_plan* plan = nullptr;
    int64_t before = fake_->launches();
    ASSERT_EQ(hstu_plan_get(&plan, context_, chain.name.data(), args.data(), nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(fake_->launches(), before) << "getting a plan runs nothing";
    ASSERT_EQ(hstu_context_set_miss_policy(context_, HSTU_MISS_FAIL), HSTU_OK);
    const auto steps = static_cast<int64_t>(steps_of(chain, Fusing(FusedStages{})).size());
    for (const void* given : {static_cast<const void*>(nullptr), static_cast<const void*>(args.data())})
      EXPECT_EQ(launches_of(plan, given), steps) << chain.name;
    hstu_plan_release(plan);
    ASSERT_EQ(hstu_context_set_miss_policy(context_, HSTU_MISS_DEFAULT), HSTU_OK);
  }
}

TEST_F(PlanOfAChain, KeepsWhatItsArgumentsPointTo) {
  open("");
  const hstu_stack_args given = stack();
  std::vector<hstu_layer_weights> weights(given.layers, given.layers + 2);
  hstu_stack_args args = given;
  args.layers = weights.data();
  args.layer_size = sizeof(hstu_layer_weights);
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "stack", &args, nullptr), HSTU_OK) << hstu_last_error();
  std::memset(weights.data(), 0xff, weights.size() * sizeof weights[0]);
  EXPECT_EQ(launches_of(plan, nullptr), 10);
  EXPECT_NE(hstu_plan_launch(plan, &args, nullptr), HSTU_OK) << "no weights";
  EXPECT_EQ(launches_of(plan, &given), 10);
  hstu_plan_release(plan);
}

TEST_F(PlanOfAChain, RefusesWhatItIsNotFor) {
  open("");
  hstu_plan* plan = nullptr;
  hstu_stack_args args = stack();
  ASSERT_EQ(hstu_plan_get(&plan, context_, "stack", &args, nullptr), HSTU_OK) << hstu_last_error();
  const auto refused = [&](const hstu_stack_args& other, const char* words) {
    const int64_t before = fake_->launches();
    EXPECT_EQ(hstu_plan_launch(plan, &other, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(hstu_last_error()).find(words), std::string::npos) << hstu_last_error();
    EXPECT_EQ(fake_->launches(), before);
  };
  refused(stack(4 * 64), "layer norm: rows = 256, but the plan is for 64 (as powers of two)");
  hstu_stack_args other = args;
  other.num_layers = 1;
  refused(other, "stack has 5 steps where the plan has 10");
  other = args;
  other.struct_size = 8;
  refused(other, "args.struct_size = 8");
  other = args;
  other.workspace_size = 0;
  refused(other, "workspace_size = 0");
  hstu_plan* none = plan;
  EXPECT_EQ(hstu_plan_get(&none, context_, "stack", &other, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  hstu_plan_release(plan);
}

}  // namespace
}  // namespace hstujit
