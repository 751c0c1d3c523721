// Traffic comes back as it was asked: counted without losing a call, written as a workload of the same problems.
#include "traffic/traffic.hpp"

#include "workload/calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

namespace hstujit {
namespace {

void* at(uintptr_t place) { return reinterpret_cast<void*>(place << 32); }

hstu_layer_norm_args norm(int64_t rows, int64_t dim = 512) {
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(at(1), HSTU_DTYPE_BF16, rows, dim);
  args.out = hstu_matrix(at(2), HSTU_DTYPE_BF16, rows, dim);
  args.weight = hstu_vector(at(3), HSTU_DTYPE_F32, dim);
  args.bias = hstu_vector(at(4), HSTU_DTYPE_F32, dim);
  return args;
}

hstu_attention_args attention(int64_t batch, int64_t rows, int64_t longest) {
  hstu_attention_args args{};
  args.struct_size = sizeof args;
  args.q = hstu_heads(at(1), HSTU_DTYPE_BF16, rows, 4, 128);
  args.k = hstu_heads(at(2), HSTU_DTYPE_BF16, rows, 4, 128);
  args.v = hstu_heads(at(3), HSTU_DTYPE_BF16, rows, 4, 128);
  args.out = hstu_heads(at(4), HSTU_DTYPE_BF16, rows, 4, 128);
  args.seq_offsets = hstu_vector(at(5), HSTU_DTYPE_I32, batch + 1);
  args.mask.num_targets = hstu_vector(at(6), HSTU_DTYPE_I32, batch);
  args.max_seq_len = longest;
  args.mask.max_attn_len = 64;
  return args;
}

template <class Args>
Problem count(Traffic& traffic, Args args, int calls = 1) {
  const Problem problem = prepare(args);
  for (int i = 0; i < calls; ++i) traffic.count(problem, &args);
  return problem;
}

int64_t calls_of(const Traffic& traffic) {
  int64_t sum = 0;
  for (const Traffic::Shape& shape : traffic.shapes()) sum += shape.calls;
  return sum;
}

class TrafficTest : public testing::Test {
 protected:
  /// What a tuner makes of the recorded workload.
  std::vector<Need> read_back() {
    workload_ = parse_workload(workload_text(traffic_.shapes(), &left_out_));
    calls_ = expand(workload_);
    return needs(calls_);
  }

  std::unique_ptr<Traffic> own_ = std::make_unique<Traffic>();
  Traffic& traffic_ = *own_;
  int64_t left_out_ = -1;
  Workload workload_;
  std::vector<Calls> calls_;
};

TEST_F(TrafficTest, EqualShapesAreCountedTogether) {
  count(traffic_, norm(1000), 3);
  count(traffic_, norm(1001), 2);
  count(traffic_, norm(700), 1);
  count(traffic_, norm(1000, 256), 1);
  EXPECT_EQ(traffic_.shapes().size(), 3u) << "1000 and 1001 rows are one shape, 700 of the same bucket another";
  EXPECT_EQ(calls_of(traffic_), 7);
}

TEST_F(TrafficTest, ThreadsLoseNoCall) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) count(traffic_, norm(1 + i % 50));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls_of(traffic_), 20'000);
  EXPECT_EQ(traffic_.overflow(), 0);
}

TEST_F(TrafficTest, AFullTableCountsWhatItCannotKeep) {
  for (int64_t dim = 1; dim <= 4000; ++dim) count(traffic_, norm(8, dim));
  EXPECT_GT(traffic_.overflow(), 0);
  EXPECT_EQ(calls_of(traffic_) + traffic_.overflow(), 4000);
}

TEST_F(TrafficTest, AWorkloadAsksForTheSameProblems) {
  const Problem a = count(traffic_, norm(1000), 5);
  const Problem b = count(traffic_, attention(32, 40'000, 4000), 7);
  const auto all = read_back();
  EXPECT_EQ(left_out_, 0);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].problem, b) << "it takes longer";
  EXPECT_EQ(all[1].problem, a);
  EXPECT_EQ(all[0].count, 7);
  EXPECT_EQ(all[1].count, 5);
}

TEST_F(TrafficTest, StridesOfZeroAndExactZerosComeBack) {
  hstu_addmm_args product{};
  product.struct_size = sizeof product;
  product.x = {at(1), HSTU_DTYPE_F16, 2, HSTU_STRIDES_GIVEN, {1000, 64}, {0, 0}};
  product.w = hstu_matrix(at(2), HSTU_DTYPE_F16, 64, 96);
  product.out = hstu_matrix(at(3), HSTU_DTYPE_F16, 1000, 96);
  const Problem expanded = count(traffic_, product);
  hstu_layer_norm_args exact = norm(10);
  exact.eps = HSTU_EXACT_ZERO;
  count(traffic_, exact);
  ASSERT_EQ(read_back().size(), 2u);
  EXPECT_EQ(left_out_, 0);
  for (Calls& calls : calls_)
    if (auto* const back = std::get_if<hstu_addmm_args>(&calls.calls[0].args)) {
      EXPECT_EQ(back->x.flags, HSTU_STRIDES_GIVEN);
      EXPECT_EQ(back->x.stride[0], 0);
      EXPECT_EQ(back->x.stride[1], 0);
      EXPECT_EQ(extent_bytes(back->x), 2);
    } else {
      EXPECT_TRUE(std::signbit(std::get<hstu_layer_norm_args>(calls.calls[0].args).eps));
    }
  for (const Need& need : needs(calls_)) EXPECT_TRUE(need.problem.op != Op::addmm || need.problem == expanded);
}

TEST_F(TrafficTest, MadeUpLengthsAddUpAndStayWithinTheLongest) {
  for (const auto [batch, rows, longest] :
       {std::array<int64_t, 3>{32, 40'000, 4000}, {3, 300, 100}, {7, 1, 1}, {1, 77, 80}, {5, 23, 5}, {100, 150, 2}}) {
    const auto traffic = std::make_unique<Traffic>();
    count(*traffic, attention(batch, rows, longest));
    int64_t left_out = 0;
    const Workload workload = parse_workload(workload_text(traffic->shapes(), &left_out));
    ASSERT_EQ(left_out, 0) << rows;
    for (const TensorSpec& tensor : std::get<CallSpec>(workload.operators[0].spec).tensors) {
      if (tensor.name != "seq_offsets") continue;
      const std::vector<int64_t>& lengths = tensor.integers->lengths.list;
      EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}), rows);
      EXPECT_LE(*std::max_element(lengths.begin(), lengths.end()), longest) << rows;
      EXPECT_GE(*std::min_element(lengths.begin(), lengths.end()), 0) << rows;
    }
  }
}

TEST_F(TrafficTest, CallsDecideWhatComesFirst) {
  count(traffic_, norm(100'000), 1);
  count(traffic_, norm(1000), 1'000);
  const auto all = read_back();
  EXPECT_EQ(all[0].count, 1000) << "many small calls take longer than a large one";
}

TEST_F(TrafficTest, WhatAFileCannotSayIsLeftOutAndCounted) {
  hstu_layer_norm_args unaligned = norm(1000);
  unaligned.x.data = static_cast<char*>(unaligned.x.data) + 2;
  count(traffic_, unaligned);
  count(traffic_, norm(1000));
  EXPECT_EQ(read_back().size(), 1u);
  EXPECT_EQ(left_out_, 1);
}

TEST_F(TrafficTest, NoAddressOrContentIsWritten) {
  hstu_layer_norm_args args = norm(1000);
  args.x.data = reinterpret_cast<void*>(uintptr_t{0xABCDEF000});
  count(traffic_, args);
  const std::string text = workload_text(traffic_.shapes(), &left_out_);
  EXPECT_EQ(text.find(std::to_string(0xABCDEF000)), std::string::npos) << text;
  EXPECT_EQ(text.find("data"), std::string::npos) << text;
}

}  // namespace
}  // namespace hstujit
