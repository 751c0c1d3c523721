// Hosts of earlier releases: structs as they were then, right in front of memory that cannot be read.
#include "capi/versions.hpp"

#include "capi/fake_gpu.hpp"
#include "capi/padding.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <functional>
#include <string>
#include <vector>

namespace hstujit {
namespace {

// ---- What headers said before; nothing here changes with them

namespace then {

struct tensor {
  void* data;
  int32_t dtype;
  int16_t rank;
  uint16_t flags;
  int64_t shape[5];
  int64_t stride[5];
};

/// Until moments.
struct layer_norm_args {
  size_t struct_size;
  tensor x, weight, bias, out;
  float eps;
  int32_t scaling;
  tensor descale;
};
static_assert(sizeof(layer_norm_args) == 496);

/// Until the forward's moments.
struct layer_norm_backward_args {
  size_t struct_size;
  layer_norm_args forward;
  tensor dout, moments, dresidual, dx, dweight, dbias, valid_rows;
  int32_t accumulate;
  int32_t determinism;
  void* workspace;
  size_t workspace_size;
};
static_assert(sizeof(layer_norm_backward_args) == 1200);

/// Until unusable_records.
struct counters {
  size_t struct_size;
  int64_t plans, compiles, store_hits, tunes, tuned_plans, nearest_plans, default_plans, stand_ins, background_plans,
      failed_preparations, not_ready, loads, damaged, evictions, compile_ns, store_ns, load_ns;
};
static_assert(sizeof(counters) == 144);

}  // namespace then

// ---- The same call, as hosts of then and of today spell it

then::tensor as_then(const hstu_tensor& t) { return std::bit_cast<then::tensor>(t); }

then::layer_norm_args as_then(const hstu_layer_norm_args& a) {
  return {sizeof(then::layer_norm_args),
          as_then(a.x),
          as_then(a.weight),
          as_then(a.bias),
          as_then(a.out),
          a.eps,
          a.scaling,
          as_then(a.descale)};
}
then::layer_norm_backward_args as_then(const hstu_layer_norm_backward_args& a) {
  return {sizeof(then::layer_norm_backward_args),
          as_then(a.forward),
          as_then(a.dout),
          as_then(a.moments),
          as_then(a.dresidual),
          as_then(a.dx),
          as_then(a.dweight),
          as_then(a.dbias),
          as_then(a.valid_rows),
          a.accumulate,
          a.determinism,
          a.workspace,
          a.workspace_size};
}

/// Bytes of which the last is the last of its page; the next page cannot be read.
class AtPageEnd {
 public:
  AtPageEnd(const void* bytes, size_t size) : at_(static_cast<std::byte*>(pages_) + kPage - size) {
    if (pages_ == MAP_FAILED || mprotect(static_cast<std::byte*>(pages_) + kPage, kPage, PROT_NONE) != 0)
      throw std::bad_alloc();
    std::memcpy(at_, bytes, size);
  }
  template <class Struct>
  explicit AtPageEnd(const Struct& object) : AtPageEnd(&object, sizeof object) {}
  ~AtPageEnd() { munmap(pages_, 2 * kPage); }
  AtPageEnd(const AtPageEnd&) = delete;
  AtPageEnd& operator=(const AtPageEnd&) = delete;

  template <class Struct>
  Struct* as() const {
    return reinterpret_cast<Struct*>(at_);
  }

 private:
  const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages_ = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::byte* const at_;
};

class Versions : public testing::Test {
 protected:
  static constexpr int64_t kRows = 3, kDim = 8;

  Versions() {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.store_path = options.system_store_path = "";
    EXPECT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
    for (size_t i = 0; i < x_.size(); ++i) {
      x_[i] = static_cast<float>(i * i % 11);
      dout_[i] = static_cast<float>(i * 7 % 5) - 2;
    }
  }
  ~Versions() override { hstu_context_destroy(context_); }

  using Matrix = std::array<float, kRows * kDim>;
  static hstu_tensor matrix(Matrix& m) { return hstu_matrix(m.data(), HSTU_DTYPE_F32, kRows, kDim); }

  hstu_layer_norm_args norm(Matrix& out) {
    auto args = sized<hstu_layer_norm_args>();
    args.x = matrix(x_);
    args.out = matrix(out);
    args.eps = 0.5f;
    return args;
  }
  hstu_layer_norm_backward_args gradient(Matrix& dx) {
    auto args = sized<hstu_layer_norm_backward_args>();
    args.forward = norm(x_);
    args.dout = matrix(dout_);
    args.dresidual = matrix(x_);
    args.dx = matrix(dx);
    return args;
  }

  void expect_refused(hstu_status status, const std::string& text) const {
    EXPECT_EQ(status, HSTU_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(hstu_last_error()).find(text), std::string::npos) << hstu_last_error();
  }

  hstu_context* context_ = nullptr;
  Matrix x_, dout_;
};

// ---- Operators and plans

TEST_F(Versions, AnOperatorTakesTheStructOfThen) {
  Matrix expected{}, out{};
  const hstu_layer_norm_args today = norm(expected);
  const AtPageEnd args(as_then(norm(out)));
  ASSERT_EQ(hstu_layer_norm(context_, &today, nullptr), HSTU_OK) << hstu_last_error();
  for (int i = 0; i < 2; ++i) {
    out = {};
    ASSERT_EQ(hstu_layer_norm(context_, args.as<hstu_layer_norm_args>(), nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(out, expected);
  }
}

TEST_F(Versions, AStructBehindAnEmbeddedOneThatGrewIsMoved) {
  Matrix expected{}, dx{};
  const hstu_layer_norm_backward_args today = gradient(expected);
  ASSERT_EQ(hstu_layer_norm_backward(context_, &today, nullptr), HSTU_OK) << hstu_last_error();
  auto before = as_then(gradient(dx));
  for (const size_t embedded_size : {size_t{0}, sizeof before.forward}) {
    before.forward.struct_size = embedded_size;
    const AtPageEnd args(before);
    dx = {};
    ASSERT_EQ(hstu_layer_norm_backward(context_, args.as<hstu_layer_norm_backward_args>(), nullptr), HSTU_OK)
        << hstu_last_error();
    EXPECT_EQ(dx, expected);
  }
}

TEST_F(Versions, AnEmbeddedSizeIsThatOfTheSameRelease) {
  Matrix dx{};
  auto before = as_then(gradient(dx));
  for (const size_t other : {sizeof(hstu_layer_norm_args), size_t{8}}) {
    before.forward.struct_size = other;
    const AtPageEnd args(before);
    expect_refused(hstu_layer_norm_backward(context_, args.as<hstu_layer_norm_backward_args>(), nullptr),
                   "forward.struct_size = " + std::to_string(other));
  }
  hstu_layer_norm_backward_args today = gradient(dx);
  today.forward.struct_size = sizeof before.forward;
  expect_refused(hstu_layer_norm_backward(context_, &today, nullptr), "forward.struct_size = 496");
}

TEST_F(Versions, AWorkspaceIsMeasuredForTheStructOfThen) {
  Matrix dx{};
  std::array<float, kDim> weight{}, dweight{};
  hstu_layer_norm_backward_args today = gradient(dx);
  today.forward.weight = today.forward.bias = hstu_vector(weight.data(), HSTU_DTYPE_F32, kDim);
  today.dweight = hstu_vector(dweight.data(), HSTU_DTYPE_F32, kDim);
  const AtPageEnd args(as_then(today));
  size_t expected = 0, bytes = 1;
  ASSERT_EQ(hstu_layer_norm_backward_workspace_size(context_, &today, &expected), HSTU_OK) << hstu_last_error();
  ASSERT_EQ(hstu_layer_norm_backward_workspace_size(context_, args.as<hstu_layer_norm_backward_args>(), &bytes),
            HSTU_OK)
      << hstu_last_error();
  EXPECT_GT(expected, 0u);
  EXPECT_EQ(bytes, expected);
}

TEST_F(Versions, PlansAreMadeAndLaunchedByStructsOfThenAndOfToday) {
  Matrix expected{}, made{}, given{};
  const hstu_layer_norm_args truth = norm(expected), today = norm(given);
  ASSERT_EQ(hstu_layer_norm(context_, &truth, nullptr), HSTU_OK) << hstu_last_error();
  const AtPageEnd to_make(as_then(norm(made))), to_launch(as_then(today));
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "layer_norm", to_make.as<void>(), nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(hstu_plan_launch(plan, nullptr, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(made, expected);
  for (const void* args : {to_launch.as<const void>(), static_cast<const void*>(&today)}) {
    given = {};
    EXPECT_EQ(hstu_plan_launch(plan, args, nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(given, expected);
  }
  hstu_plan_release(plan);
}

TEST_F(Versions, APlanOfTodayIsLaunchedByAGradientOfThen) {
  Matrix expected{}, dx{};
  const hstu_layer_norm_backward_args today = gradient(expected);
  const AtPageEnd args(as_then(gradient(dx)));
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "layer_norm_backward", &today, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(hstu_plan_launch(plan, nullptr, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(hstu_plan_launch(plan, args.as<void>(), nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(dx, expected);
  hstu_plan_release(plan);
}

TEST_F(Versions, ADeviceTakesTheStructOfThen) {
  Matrix dx{};
  const AtPageEnd args(as_then(gradient(dx)));
  EXPECT_EQ(hstu_context_takes(context_, "layer_norm_backward", args.as<void>()), HSTU_OK) << hstu_last_error();
}

/// On a GPU, where a thread remembers its calls.
using VersionsOnGpu = FakeGpu;

TEST_F(VersionsOnGpu, CallsOfThenAreRememberedLikeThoseOfToday) {
  constexpr size_t kParamsBytes = 56;  // of RowNormParams
  open("");
  fake_->set_params_bytes(kParamsBytes);
  const auto params = [&](const hstu_layer_norm_args* args) {
    EXPECT_EQ(hstu_layer_norm(context_, args, nullptr), HSTU_OK) << hstu_last_error();
    const fake_launch launch = fake_->last_launch();
    return std::string(reinterpret_cast<const char*>(launch.params), kParamsBytes);
  };
  const hstu_layer_norm_args today = norm();
  hstu_layer_norm_args moved = today;
  moved.x.data = x_ + 1024;
  const AtPageEnd args(as_then(today)), moved_args(as_then(moved));
  const std::string expected = params(&today), expected_moved = params(&moved);
  EXPECT_NE(expected, expected_moved);
  const int64_t before = fake_->launches();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(params(args.as<hstu_layer_norm_args>()), expected);
    EXPECT_EQ(params(moved_args.as<hstu_layer_norm_args>()), expected_moved);
  }
  EXPECT_EQ(fake_->launches() - before, 8);
  EXPECT_EQ(counters().plans, 1);
}

// ---- Counters

TEST_F(Versions, CountersAreWrittenAsThen) {
  then::counters before{};
  before.struct_size = sizeof before;
  before.plans = before.load_ns = 77;
  const AtPageEnd out(before);
  ASSERT_EQ(hstu_context_counters(context_, out.as<hstu_counters>()), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(out.as<then::counters>()->struct_size, sizeof before);
  EXPECT_EQ(out.as<then::counters>()->plans, 0);
  EXPECT_EQ(out.as<then::counters>()->load_ns, 0);
  out.as<then::counters>()->struct_size = 8;
  expect_refused(hstu_context_counters(context_, out.as<hstu_counters>()), "out.struct_size = 8");
}

// ---- Sizes of no release

/// Every entry point that takes this struct.
using Call = std::function<hstu_status(hstu_context*, const void*)>;
struct EntryPoint {
  std::string name;
  size_t size;
  Call call;
};

template <class Args>
EntryPoint entry_point(const char* name, hstu_status (*function)(hstu_context*, const Args*, hstu_stream)) {
  return {name, sizeof(Args), [=](hstu_context* context, const void* args) {
            return function(context, static_cast<const Args*>(args), nullptr);
          }};
}
template <class Args>
EntryPoint entry_point(const char* name, hstu_status (*function)(const Args*, size_t*)) {
  return {name, sizeof(Args), [=](hstu_context*, const void* args) {
            size_t bytes;
            return function(static_cast<const Args*>(args), &bytes);
          }};
}
EntryPoint plan_of(const char* name, size_t size) {
  return {std::string("plan of ") + name, size, [=](hstu_context* context, const void* args) {
            hstu_plan* plan;
            return hstu_plan_get(&plan, context, name, args, nullptr);
          }};
}

EntryPoint takes(const char* name, size_t size) {
  return {std::string("hstu_context_takes ") + name, size,
          [=](hstu_context* context, const void* args) { return hstu_context_takes(context, name, args); }};
}

std::vector<EntryPoint> entry_points() {
  std::vector<EntryPoint> all;
#define HSTUJIT_ENTRY_POINTS(name, args_type, function) \
  all.push_back(entry_point(#function, function));      \
  all.push_back(plan_of(#name, sizeof(args_type)));     \
  all.push_back(takes(#name, sizeof(args_type)));
  HSTUJIT_OPERATOR_MAP(HSTUJIT_ENTRY_POINTS)
  HSTUJIT_CHAIN_MAP(HSTUJIT_ENTRY_POINTS)
#undef HSTUJIT_ENTRY_POINTS
#define HSTUJIT_ENTRY_POINTS(name, args_type, function) \
  all.push_back(entry_point(#function "_workspace_size", function##_workspace_size));
  HSTUJIT_CHAIN_MAP(HSTUJIT_ENTRY_POINTS)
#undef HSTUJIT_ENTRY_POINTS
  all.push_back(entry_point("hstu_layer", hstu_layer));
  all.push_back(entry_point("hstu_quantize_fp8_dynamic", hstu_quantize_fp8_dynamic));
#define HSTUJIT_ENTRY_POINT_ON_CONTEXT(function, args_type)                                  \
  all.push_back({#function, sizeof(args_type), [](hstu_context* context, const void* args) { \
                   size_t bytes;                                                             \
                   return function(context, static_cast<const args_type*>(args), &bytes);    \
                 }});
  HSTUJIT_ENTRY_POINT_ON_CONTEXT(hstu_layer_norm_backward_workspace_size, hstu_layer_norm_backward_args)
  HSTUJIT_ENTRY_POINT_ON_CONTEXT(hstu_attention_backward_workspace_size, hstu_attention_backward_args)
#undef HSTUJIT_ENTRY_POINT_ON_CONTEXT
  return all;
}

TEST_F(Versions, EveryEntryPointRefusesSizesOfNoRelease) {
  for (const EntryPoint& each : entry_points())
    for (const size_t size : {size_t{0}, size_t{8}, each.size - 1, each.size + 8, SIZE_MAX}) {
      SCOPED_TRACE(each.name + ", " + std::to_string(size));
      const AtPageEnd args(size);  // nothing behind it can be read
      expect_refused(each.call(context_, args.as<void>()), "args.struct_size = " + std::to_string(size) +
                                                               ": this library (" + hstu_version() + ") takes " +
                                                               std::to_string(each.size));
      EXPECT_EQ(std::string(hstu_last_error()).find("later release") != std::string::npos, size > each.size)
          << hstu_last_error();
    }
}

TEST_F(Versions, ARefusalNamesTheSizesOfEarlierReleases) {
  const AtPageEnd args(size_t{504});
  expect_refused(hstu_layer_norm(context_, args.as<hstu_layer_norm_args>(), nullptr),
                 "takes 592 or, of earlier releases, 496; set it to sizeof the struct");
}

TEST_F(Versions, ALaunchRefusesSizesOfNoRelease) {
  Matrix out{};
  const hstu_layer_norm_args today = norm(out);
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "layer_norm", &today, nullptr), HSTU_OK) << hstu_last_error();
  for (const size_t size : {size_t{8}, sizeof today + 8}) {
    const AtPageEnd args(size);
    expect_refused(hstu_plan_launch(plan, args.as<void>(), nullptr), "args.struct_size = " + std::to_string(size));
  }
  hstu_plan_release(plan);
}

TEST_F(Versions, OptionsOfNoReleaseAreRefused) {
  for (const size_t size : {size_t{8}, sizeof(hstu_context_options) + 8}) {
    const AtPageEnd options(size);
    hstu_context* none = nullptr;
    expect_refused(hstu_context_create(&none, options.as<hstu_context_options>()),
                   "options.struct_size = " + std::to_string(size));
    EXPECT_EQ(none, nullptr);
  }
}

// ---- The lists

/// A struct that grew twice: at its end, then within one that it embeds.
struct First {
  size_t struct_size;
  size_t embedded_size;
  int64_t a, b;
};
struct Second {
  size_t struct_size;
  size_t embedded_size;
  int64_t a, b, c;
};
struct Third {
  size_t struct_size;
  size_t embedded_size;
  int64_t a, inserted, b, c;
};
constexpr Version kEarlierOfThird[] = {
    {sizeof(First), sizeof(Second), {{{16, 16, 16}}}, {{{"embedded.struct_size", 8, 16}}}},
    {sizeof(Second), sizeof(Third), {{{16, 16, 8}, {24, 32, 16}}}, {{{"embedded.struct_size", 8, 16}}}}};
constexpr Layout kLayoutOfThird{sizeof(Third), kEarlierOfThird};

TEST(VersionLists, AreFollowedFromVersionToVersion) {
  Third today;
  const AtPageEnd first(First{sizeof(First), 16, 1, 2});
  update(kLayoutOfThird, first.as<void>(), &today, "args");
  EXPECT_EQ(today.struct_size, sizeof today);
  EXPECT_EQ((std::array{today.a, today.inserted, today.b, today.c}), (std::array<int64_t, 4>{1, 0, 2, 0}));
  EXPECT_EQ(today.embedded_size, 0u) << "what an embedded size of today would be is not the host's to know";
  const AtPageEnd second(Second{sizeof(Second), 0, 1, 2, 3});
  update(kLayoutOfThird, second.as<void>(), &today, "args");
  EXPECT_EQ((std::array{today.a, today.inserted, today.b, today.c}), (std::array<int64_t, 4>{1, 0, 2, 3}));
}

TEST(VersionLists, AreFollowedBackForAnswers) {
  const Third today{sizeof today, 0, 1, 4, 2, 3};
  const AtPageEnd first(First{sizeof(First), 0, 77, 77}), second(Second{sizeof(Second), 0, 77, 77, 77}),
      third(Third{sizeof(Third), 0, 77, 77, 77, 77});
  answer(kLayoutOfThird, &today, first.as<void>(), "out");
  EXPECT_EQ(first.as<First>()->struct_size, sizeof(First));
  EXPECT_EQ(first.as<First>()->a, 1);
  EXPECT_EQ(first.as<First>()->b, 2);
  answer(kLayoutOfThird, &today, second.as<void>(), "out");
  EXPECT_EQ(second.as<Second>()->c, 3);
  answer(kLayoutOfThird, &today, third.as<void>(), "out");
  EXPECT_EQ(third.as<Third>()->inserted, 4);
}

TEST(VersionLists, BelongToTheStructOfTheirName) {
  for (const Operator& op : operators()) EXPECT_EQ(layout_of(op.op).size, op.args_size) << op.name;
  for (const chain::Chain& each : chain::chains()) EXPECT_EQ(layout_of(each).size, each.args_size) << each.name;
}

TEST(Padding, IsFoundWhereverItIs) {
  struct Between {
    int32_t a;
    double b;
  };
  struct Behind {
    double a;
    int32_t b[3];
  };
  struct Within {
    Between a;
    double b;
  };
  struct None {
    float a[3];
    int32_t b;
    void* c;
    struct {
      int16_t d, e, f, g;
    } within;
  };
  EXPECT_TRUE(has_padding<Between>());
  EXPECT_TRUE(has_padding<Behind>());
  EXPECT_TRUE(has_padding<Within>());
  EXPECT_FALSE(has_padding<None>());
}

}  // namespace
}  // namespace hstujit
