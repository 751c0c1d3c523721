#include "gpu_record/rooms.hpp"

#include "families/family.hpp"
#include "gpu_record/tree.hpp"
#include "support/error.hpp"

namespace hstujit::gpu_record {
namespace {

TEST(Rooms, AreFoldersAndTheFilesBesideThem) {
  EXPECT_EQ(room_of("/built/there/tests/kernels/norm/softmax_sweep_test.cpp"), "norm");
  EXPECT_EQ(room_of("tests/kernels/prim_sm90_test.cpp"), "prim_sm90");
  EXPECT_THROW(room_of("tests/jit/jit_test.cpp"), Error);
  EXPECT_THROW(room_of("tests/kernels/main.cpp"), Error);
  const std::set<std::string> all = rooms(Sources(test::source_dir()));
  for (const char* room : {"attention", "dense", "fp8", "jagged", "norm", "position", "candidates", "prim"})
    EXPECT_TRUE(all.contains(room)) << room;
  EXPECT_FALSE(all.contains("main"));
}

TEST(Rooms, DependOnTheFamiliesOfTheirName) {
  Sources sources(test::source_dir());
  const auto norm = dependencies(sources, "norm", "cuda");
  EXPECT_TRUE(norm.contains("softmax_sm80"));
  EXPECT_FALSE(norm.contains("addmm_sm90"));
  EXPECT_FALSE(norm.contains(std::string(kLaunching)));
  EXPECT_TRUE(dependencies(sources, "dense", "cuda").contains("norm_addmm_sm90"));
  EXPECT_FALSE(dependencies(sources, "dense", "cuda@sm_80").contains("norm_addmm_sm90"));
  EXPECT_TRUE(dependencies(sources, "dense", "cuda@sm_80").contains("addmm_sm80"));
}

TEST(Rooms, DependOnTheOperatorsThatTheirTestsName) {
  Sources sources(test::source_dir());
  EXPECT_TRUE(dependencies(sources, "fp8", "cuda").contains("addmm_sm90"));
  EXPECT_TRUE(dependencies(sources, "layer_sweep", "cuda").contains("gated_addmm_sm90"));
  EXPECT_FALSE(dependencies(sources, "layer_sweep", "cuda").contains("softmax_sm80"));
  const auto large = dependencies(sources, "large", "cuda");
  EXPECT_TRUE(large.contains("dropout_sm80"));
  EXPECT_FALSE(large.contains("rel_bias_sm80"));
}

TEST(Rooms, OfDeviceCodeDependOnNothingElse) {
  Sources sources(test::source_dir());
  EXPECT_EQ(dependencies(sources, "section_order", "cuda"),
            std::set<std::string>{"tests/kernels/section_order_checks.cuh"});
  EXPECT_EQ(dependencies(sources, "launch_board", "cuda"),
            (std::set<std::string>{"tests/kernels/launch_board_checks.cuh", std::string(kLaunching)}));
}

TEST(Rooms, ThatTakeOperatorsFromATableOrNameNoneDependOnAllFamilies) {
  const Tree tree;
  tree.write("tests/kernels/anything_test.cpp", "TEST(Anything, Works) {}\n");
  tree.write("tests/kernels/random/each_test.cpp", "TEST(Each, Works) {}\n");
  Sources sources(tree.path());
  for (const char* room : {"goldens_on_device", "candidates", "moved_launch", "anything", "random"}) {
    const auto names = dependencies(sources, room, "cuda");
    for (const Family* family : all_families()) EXPECT_TRUE(names.contains(std::string(family->name))) << room;
  }
}

TEST(Rooms, RefuseWhatIsNone) {
  Sources sources(test::source_dir());
  EXPECT_THROW(dependencies(sources, "nothing", "cuda"), Error);
  EXPECT_THROW(dependencies(sources, "norm", "cpu"), Error);
}

}  // namespace
}  // namespace hstujit::gpu_record
