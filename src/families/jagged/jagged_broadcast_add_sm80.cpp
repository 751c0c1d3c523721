// jagged_broadcast_add_sm80: a dense row added to each sequence's rows, bound by memory,
// kernels/jagged/jagged_broadcast_add_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/added_rows.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_dense_broadcast_add_args*>(args);
  const hstu_tensor* const tables[] = {&a.dense};
  added_rows::bind(a.jagged, a.out, a.seq_offsets, tables, 1.0f, problem, config, launch,
                   launch.emplace<hstu::AddedRowsParams>());
}

}  // namespace

const Family kJaggedBroadcastAddSm80 = {
    .name = "jagged_broadcast_add_sm80",
    .room = "jagged",
    .op = Op::jagged_dense_broadcast_add,
    .min_compute_capability = 80,
    .knobs = added_rows::kKnobs,
    .rules = added_rows::kRules,
    .covers = added_rows::covers,
    .default_config = added_rows::default_config,
    .resources = added_rows::resources<1>,
    .write_config = added_rows::write_config,
    .smem_expression = "jagged_broadcast_add_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
