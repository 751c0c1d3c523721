// Golden cases of jagged copies, products and positions.
#include "verify/golden_cases.hpp"

namespace hstujit::verify {
namespace {

int64_t rows_of(const hstu_tensor& t) { return t.rank == 3 ? t.shape[0] * t.shape[1] : t.shape[0]; }

void run_concat(GoldenCall& call, hstu_concat_2d_jagged_args& args) {
  const int64_t rows = args.is_replace ? rows_of(args.left) : rows_of(args.left) + rows_of(args.right);
  args.out = call.output({rows, args.left.shape[args.left.rank - 1]});
  call.run(args);
  call.compare_copy("out", args.out);
}

void concat_2d_jagged(GoldenCall& call) {
  hstu_concat_2d_jagged_args args{};
  args.left = call.input("values_left");
  args.right = call.input("values_right");
  args.offsets_left = call.input("offsets_left");
  args.offsets_right = call.input("offsets_right");
  args.max_len_left = call.integer("max_len_left");
  args.max_len_right = call.integer("max_len_right");
  run_concat(call, args);
}

void concat_2d_jagged_jagged(GoldenCall& call) {
  hstu_concat_2d_jagged_args args{};
  args.left = call.input("values_left");
  args.right = call.input("values_right");
  args.offsets_left = call.input("offsets_left");
  args.offsets_right = call.input("offsets_right");
  args.n_prefix_from_right = call.integer("n_prefix_from_right");
  args.is_replace = call.integer("is_replace") != 0;
  run_concat(call, args);
}

void concat_2d_dense_jagged(GoldenCall& call) {
  hstu_concat_2d_jagged_args args{};
  args.left = call.input("dense_values");
  args.right = call.input("jagged_values");
  args.offsets_right = call.input("jagged_offsets");
  run_concat(call, args);
}

void hstu_concat_l2_embeddings(GoldenCall& call) {
  hstu_concat_2d_jagged_args args{};
  args.left = call.input("prefix_x");
  args.right = call.input("l2_x");
  args.offsets_left = call.input("prefix_offsets");
  args.offsets_right = call.input("l2_offsets");
  args.n_prefix_from_right = call.integer("contextual_seq_len");
  run_concat(call, args);
}

/// Rows of a part: of its offsets, or those that the other part leaves.
int64_t part_rows(const hstu_tensor& offsets, const hstu_tensor& others, int64_t rows) {
  const auto last = [](const hstu_tensor& t) { return static_cast<const int64_t*>(t.data)[t.shape[0] - 1]; };
  return present(offsets) ? last(offsets) : rows - last(others);
}

void run_split(GoldenCall& call, hstu_split_2d_jagged_args& args, std::string_view left, std::string_view right) {
  const int64_t dim = args.values.shape[1], rows = args.values.shape[0];
  args.left = call.output({part_rows(args.offsets_left, args.offsets_right, rows), dim});
  args.right = call.output({part_rows(args.offsets_right, args.offsets_left, rows), dim});
  call.run(args);
  call.compare_copy(left, args.left);
  call.compare_copy(right, args.right);
}

void split_2d_jagged(GoldenCall& call) {
  hstu_split_2d_jagged_args args{};
  args.values = call.input("values");
  args.offsets_left = call.input("offsets_left");
  args.offsets_right = call.input("offsets_right");
  args.max_len_left = call.integer("max_len_left");
  args.max_len_right = call.integer("max_len_right");
  run_split(call, args, "left", "right");
}

void hstu_split_l2_embeddings(GoldenCall& call) {
  hstu_split_2d_jagged_args args{};
  args.values = call.input("x");
  args.offsets_left = call.input("prefix_offsets");
  args.offsets_right = call.input("l2_offsets");
  args.n_prefix_to_right = call.integer("contextual_seq_len");
  run_split(call, args, "prefix", "l2");
}

void jagged_dense_broadcast_add(GoldenCall& call) {
  hstu_jagged_dense_broadcast_add_args args{};
  args.jagged = call.input("jagged");
  args.dense = call.input("dense");
  args.seq_offsets = call.input("seq_offsets");
  args.out = call.output({args.jagged.shape[0], args.jagged.shape[1]});
  call.run(args);
  call.compare("out", args.out);
}

void jagged_dense_bmm(GoldenCall& call) {
  if (call.text("mode") == "broadcast") return jagged_dense_broadcast_add(call);
  hstu_jagged_dense_bmm_broadcast_add_args args{};
  args.jagged = call.input("jagged");
  args.dense = call.input("dense");
  args.bias = call.input("bias");
  args.seq_offsets = call.input("seq_offsets");
  args.elementwise = call.text("mode") == "elementwise";
  args.out = call.output({args.jagged.shape[0], args.dense.shape[2]});
  call.run(args);
  call.compare("out", args.out);
}

void timestamp_positional(GoldenCall& call) {
  hstu_add_timestamp_positional_embeddings_args args{};
  args.x = call.input("seq_embeddings");
  args.position_embeddings = call.input("position_embeddings");
  args.timestamp_embeddings = call.input("timestamp_embeddings");
  args.seq_offsets = call.input("seq_offsets");
  args.timestamps = call.input("timestamps");
  args.num_targets = call.input("num_targets");
  args.alpha = call.number("alpha");
  args.time_bucket_increments = call.number("time_bucket_increments");
  args.time_bucket_fn = call.text("time_bucket_fn") == "log" ? HSTU_TIME_BUCKET_LOG : HSTU_TIME_BUCKET_SQRT;
  args.max_contextual_seq_len = call.integer("max_contextual_seq_len");
  args.interleave_targets = call.integer("interleave_targets") != 0;
  args.out = call.output({args.x.shape[0], args.x.shape[1]});
  call.run(args);
  call.compare("out", args.out);
}

constexpr GoldenCase kCases[] = {{"concat_2d_jagged", concat_2d_jagged},
                                 {"concat_2d_jagged_jagged", concat_2d_jagged_jagged},
                                 {"concat_2d_dense_jagged", concat_2d_dense_jagged},
                                 {"hstu_concat_l2_embeddings", hstu_concat_l2_embeddings},
                                 {"split_2d_jagged", split_2d_jagged},
                                 {"hstu_split_l2_embeddings", hstu_split_l2_embeddings},
                                 {"jagged_dense_bmm", jagged_dense_bmm},
                                 {"timestamp_positional", timestamp_positional}};

}  // namespace

std::span<const GoldenCase> jagged_cases() { return kCases; }

}  // namespace hstujit::verify
