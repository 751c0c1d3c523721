// addmm_dpre_sm80: the gradient through a product's activation, kernels/dense/addmm_dpre_sm80.cuh.
#include "dense/addmm_dpre.h"
#include "families/families.hpp"
#include "operators/dense/addmm_dpre.hpp"
#include "support/ceil_div.hpp"

namespace hstujit {
namespace {

namespace key = addmm_dpre;

enum : int { kThreads, kAccesses };

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4};

constexpr Knob kKnobs[] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones are fewer to start"},
    {"accesses", kAccessesValues, "of a thread and tensor: more bytes in flight, for registers"},
};

bool block_worth_starting(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreads] * c[kAccesses] >= 128 || p[key::kVector] == 1;
}
constexpr Rule kRules[] = {{"blocks of less than 128 accesses are bound by their starts", block_worth_starting}};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem&, const DeviceFacts&) { return {{128, 2}}; }

Resources resources(const Problem& p, const Config& c) {
  const int words = (p[key::kVector] * size_of(static_cast<hstu_dtype>(p[key::kDtype])) + 3) / 4;
  return {.threads = c[kThreads], .smem_bytes = 0, .registers = 16 + 2 * words * c[kAccesses]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[key::kDtype])));
  text.constant("kActivation", p[key::kActivation]);
  text.flag("kPartial", p[key::kPartial] != 0);
  text.flag("kFlat", p[key::kFlat] != 0);
  text.constant("kVector", p[key::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_addmm_dpre_args*>(args);
  const int64_t vector = problem[key::kVector], per_block = int64_t{c[kThreads]} * c[kAccesses] * vector;
  const bool in_place = a.dpre.data == a.dout.data;
  auto& p = launch.emplace<hstu::AddmmDpreParams>();
  p.pre = a.pre.data;
  p.dout = a.dout.data;
  p.dpre = a.dpre.data;
  p.columns =
      problem[key::kPartial] != 0 && in_place ? ceil_div(a.activation_columns, vector) * vector : a.pre.shape[1];
  p.elements = a.pre.shape[0] * p.columns;
  p.pre_row_stride = a.pre.stride[0];
  p.dout_row_stride = a.dout.stride[0];
  p.dpre_row_stride = a.dpre.stride[0];
  p.act_columns = a.activation_columns;
  launch.grid[0] = static_cast<uint32_t>(ceil_div(p.elements, per_block));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
}

}  // namespace

const Family kAddmmDpreSm80 = {
    .name = "addmm_dpre_sm80",
    .room = "dense",
    .op = Op::addmm_dpre,
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
