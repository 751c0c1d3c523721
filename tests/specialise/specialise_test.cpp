// The generated unit, word for word, and what may and may not change it.
#include "operators/norm/layer_norm.hpp"
#include "specialise/source.hpp"

#include <gtest/gtest.h>

#include <array>

namespace hstujit {
namespace {

constexpr std::array<int32_t, 2> kBlocks = {64, 128};
const std::array<Knob, 2> kKnobs = {Knob{"block_m", kBlocks, "rows per block"}, Knob{"lanes", kBlocks, "of the grid"}};

// A family that uses every kind of member; its second knob shapes only the grid.
Family example() {
  Family family{};
  family.name = "example_sm80";
  family.room = "norm";
  family.op = Op::layer_norm;
  family.min_compute_capability = 80;
  family.knobs = kKnobs;
  family.resources = [](const Problem&, const Config& config) { return Resources{.smem_bytes = config[0] * 256}; };
  family.write_config = [](ConfigText& out, const Problem& problem, const Config& config) {
    out.type("Element", "bf16");
    out.flag("kHasWeight", problem[layer_norm::kHasWeight] != 0);
    out.constant("kDim", problem[layer_norm::kDim]);
    out.constant("kBlockM", config[0]);
  };
  family.smem_expression = "example_smem_bytes<Config>";
  return family;
}

Problem problem_with(int dim, int rows) {
  Problem problem;
  problem.op = Op::layer_norm;
  problem[layer_norm::kHasWeight] = 1;
  problem[layer_norm::kDim] = dim;
  problem[layer_norm::kRows] = rows;
  return problem;
}

Config config_with(int block_m, int lanes) {
  Config config;
  config[0] = block_m;
  config[1] = lanes;
  return config;
}

TEST(Specialise, PrintsTheUnitWordForWord) {
  const Source source = specialise(example(), problem_with(512, 64), config_with(128, 64), *facts_of_target("sm_90a"));
  EXPECT_EQ(source.unit, R"(#include "norm/example_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  enum : bool { kHasWeight = true };
  enum : int { kDim = 512 };
  enum : int { kBlockM = 128 };
};
static_assert(example_smem_bytes<Config> == 32768, "host and device disagree about shared memory");
}  // namespace hstu
)");
  EXPECT_EQ(source.name, "example_sm80 sm_90a block_m=128 lanes=64");
  EXPECT_EQ(source.header, "norm/example_sm80.cuh");
  EXPECT_EQ(source.entry, "hstu::example_sm80<hstu::Config>");
  EXPECT_EQ(source.target, "sm_90a");
  EXPECT_EQ(source.options, (std::vector<std::string>{"--gpu-architecture=sm_90a", "--std=c++17", "--no-source-include",
                                                      "--ptxas-options=-v"}));
}

TEST(Specialise, LeavesOutTheCheckOfAFamilyWithoutSharedMemory) {
  Family family = example();
  family.smem_expression = "";
  const Source source = specialise(family, problem_with(512, 64), config_with(64, 64), *facts_of_target("sm_80"));
  EXPECT_EQ(source.unit.find("static_assert"), std::string::npos);
}

TEST(Specialise, WhatShapesNoCodeChangesNoUnit) {
  const DeviceFacts device = *facts_of_target("sm_80");
  const Source small = specialise(example(), problem_with(512, 64), config_with(64, 64), device);
  const Source large = specialise(example(), problem_with(512, 1 << 20), config_with(64, 128), device);
  EXPECT_EQ(small.unit, large.unit);
  EXPECT_EQ(small.options, large.options);
}

TEST(Specialise, DevicesOfOneTargetShareTheSource) {
  DeviceFacts other = *facts_of_target("sm_90a");
  other.name = "NVIDIA H100 PCIe";
  other.sm_count = 114;
  const Source a = specialise(example(), problem_with(512, 64), config_with(64, 64), *facts_of_target("sm_90a"));
  const Source b = specialise(example(), problem_with(512, 64), config_with(64, 64), other);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.name, b.name);
}

TEST(Specialise, PtxTargetsAreNamedAsSuch) {
  DeviceFacts future = *facts_of_target("sm_90a");
  future.target = "compute_121";
  const Source source = specialise(example(), problem_with(512, 64), config_with(64, 64), future);
  EXPECT_EQ(source.options.front(), "--gpu-architecture=compute_121");
}

}  // namespace
}  // namespace hstujit
