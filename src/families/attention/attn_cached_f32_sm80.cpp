// attn_delta_f32_sm80 and attn_paged_f32_sm80: attention of new rows in f32, against jagged keys and values and against
// a cache in pages, kernels/attention/attn_delta_f32_sm80.cuh and kernels/attention/attn_paged_f32_sm80.cuh.
#include "families/attention/attn_f32.hpp"
#include "families/attention/attn_split.hpp"
#include "families/families.hpp"
#include "operators/attention/new_rows.hpp"

#include <algorithm>

namespace hstujit {
namespace {

attn_f32::Shape shape_of(const Problem& p) {
  return {p[delta_attention::kHeadDimQk], p[delta_attention::kHeadDimV], p[delta_attention::kIntervals], true};
}

bool covers(const Problem& p, const DeviceFacts&) { return p[delta_attention::kDtype] == HSTU_DTYPE_F32; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Sequences", "variant::CachedSequences<Config>");
  attn_split::write_facts(text, p);
  text.flag("kSilu", true);
  text.flag("kLse", false);
  attn_f32::write_knobs(text, c);
}

template <class Args>
void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const Args*>(args);
  const int64_t batch = attn_split::batch_of(a);
  const int row_blocks =
      attn_f32::set_grid(launch, shape_of(p), c, batch * a.q.shape[1], std::min(a.max_q_len, a.q.shape[0]));
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnSplitParams>();
  attn_split::fill(k, a, p, batch);
  attn_split::fill_cache(k, a, p);
  k.row_blocks = row_blocks;
}

}  // namespace

const Family kAttnDeltaF32Sm80 = attn_f32::family<shape_of>("attn_delta_f32_sm80", Op::delta_attention, covers,
                                                            write_config, bind<hstu_delta_attention_args>);

const Family kAttnPagedF32Sm80 = attn_f32::family<shape_of>("attn_paged_f32_sm80", Op::paged_attention, covers,
                                                            write_config, bind<hstu_paged_attention_args>);

}  // namespace hstujit
