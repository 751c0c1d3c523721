// dropout_sm80: seeded dropout, kernels/norm/dropout_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/dropout_rate.hpp"
#include "operators/norm/dropout.hpp"
#include "support/ceil_div.hpp"

namespace hstujit {
namespace {

enum : int { kThreads, kAccesses };

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4};

constexpr Knob kKnobs[] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones are fewer to start"},
    {"accesses", kAccessesValues, "of a thread: more bytes in flight, for registers"},
};

bool block_worth_starting(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreads] * c[kAccesses] >= 128 || p[dropout::kVector] == 1;
}

constexpr Rule kRules[] = {{"blocks of less than 128 accesses are bound by their starts", block_worth_starting}};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts&) {
  // Where arithmetic is the bound, several accesses hide its latencies. bf16, 524288 x 512, us on an H200 and an H100:
  // 64 threads with four 695, 688, 128 with one 710, 702.
  const bool arithmetic = p[dropout::kActive] != 0 && p[dropout::kWords] == 1;
  if (arithmetic && p[dropout::kDtype] == HSTU_DTYPE_F32) return {{128, 2}};
  return arithmetic && p[dropout::kVector] == 8 ? Config{{64, 4}} : Config{{128, 1}};
}

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = 0, .registers = 16 + 4 * c[kAccesses]};
}

void write_config(ConfigText& text, const Problem& problem, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(problem[dropout::kDtype])));
  text.flag("kActive", problem[dropout::kActive] != 0);
  text.flag("kFlat", problem[dropout::kFlat] != 0);
  text.constant("kWords", problem[dropout::kWords]);
  text.constant("kVector", problem[dropout::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_dropout_args*>(args);
  const int64_t per_block = int64_t{c[kThreads]} * c[kAccesses] * problem[dropout::kVector];
  auto& p = launch.emplace<hstu::DropoutParams>();
  p.x = a.x.data;
  p.y = a.out.data;
  p.elements = a.x.shape[0] * a.x.shape[1];
  p.dim = a.x.shape[1];
  p.x_row_stride = a.x.stride[0];
  p.y_row_stride = a.out.stride[0];
  if (problem[dropout::kActive] != 0) p.rate = dropout_rate(a.ratio, a.seed);
  launch.grid[0] = static_cast<uint32_t>(ceil_div(p.elements, per_block));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
}

}  // namespace

const Family kDropoutSm80 = {
    .name = "dropout_sm80",
    .room = "norm",
    .op = Op::dropout,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
