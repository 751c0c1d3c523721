#include "gpu_record/sources.hpp"

#include "families/family.hpp"
#include "gpu_record/rooms.hpp"
#include "gpu_record/tree.hpp"

#include <algorithm>

namespace hstujit::gpu_record {
namespace {

using Names = std::set<std::string>;

Digests all_digests(const Tree& tree) {
  Sources sources(tree.path());
  Names names{std::string(kLaunching)};
  for (const Family* family : all_families()) names.emplace(family->name);
  return sources.digests(names);
}

Names changed(const Digests& before, const Digests& after) {
  Names names;
  for (const auto& [name, digest] : before)
    if (!after.contains(name) || after.at(name) != digest) names.insert(name);
  return names;
}

TEST(Sources, ChangeWithAKernelAloneForItsFamily) {
  const Tree tree;
  const Digests before = all_digests(tree);
  EXPECT_EQ(before.size(), all_families().size() + 1);
  tree.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  EXPECT_EQ(changed(before, all_digests(tree)), Names{"softmax_sm80"});
}

TEST(Sources, ChangeForAllThatIncludeAText) {
  const Tree tree;
  const Digests before = all_digests(tree);
  tree.append("kernels/jagged/runs/sample_sort.cuh", "\nstruct Another {};\n");
  EXPECT_EQ(changed(before, all_digests(tree)), (Names{"sort_by_length_parts_sm80", "sort_kv_parts_sm80"}));
}

TEST(Sources, ChangeWithAFamilysHostFiles) {
  const Tree tree;
  const Digests before = all_digests(tree);
  tree.append("src/families/jagged/sample_sort.cpp", "\nint another;\n");
  tree.append("src/families/attention/attn_facts.cpp", "\nint another;\n");
  const Names names = changed(before, all_digests(tree));
  EXPECT_TRUE(names.contains("sort_kv_parts_sm80"));
  EXPECT_TRUE(names.contains("attn_fwd_sm90"));
  EXPECT_FALSE(names.contains("sort_kv_pairs_sm80"));
  EXPECT_FALSE(names.contains("append_kv_cache_sm80"));
  EXPECT_FALSE(names.contains(std::string(kLaunching)));
}

TEST(Sources, ChangeForLaunchingAloneWithWhatLaunchesAllFamilies) {
  const Tree tree;
  const Digests before = all_digests(tree);
  for (const char* file : {"src/launch/module.cpp", "src/specialise/specialise.cpp", "src/families/family.hpp"}) {
    const std::string text = tree.read(file);
    tree.append(file, "\nint another;\n");
    EXPECT_EQ(changed(before, all_digests(tree)), Names{std::string(kLaunching)}) << file;
    tree.write(file, text);
  }
}

TEST(Sources, StayAsTheyAreWhateverCommentsAndLineBreaksThereAre) {
  const Tree tree;
  const Digests before = all_digests(tree);
  tree.prepend("kernels/norm/softmax_sm80.cuh", "// A word more.\n\n");
  tree.append("kernels/prim/math.cuh", "\n/* of\n several lines */\n\n");
  tree.prepend("src/launch/module.cpp", "/// Another.\n");
  const std::string file = "src/families/norm/row_norm.cpp";
  std::string text = tree.read(file);
  text.replace(text.find("return "), 7, "return  // because\n      ");
  tree.write(file, text);
  EXPECT_EQ(changed(before, all_digests(tree)), Names{});
}

TEST(Sources, StayAsTheyAreWhereverAFileLies) {
  const Tree tree;
  const Digests before = all_digests(tree);
  const std::string text = tree.read("kernels/norm/rows/drop.cuh");
  tree.write("kernels/tile/dropped.cuh", text);
  std::filesystem::remove(tree.path() / "kernels/norm/rows/drop.cuh");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tree.path() / "kernels/norm")) {
    const std::string path = std::filesystem::relative(entry.path(), tree.path()).string();
    if (!entry.is_regular_file()) continue;
    std::string user = tree.read(path);
    const std::string name = "norm/rows/drop.cuh";
    for (size_t at = user.find(name); at != std::string::npos; at = user.find(name))
      user.replace(at, name.size(), "tile/dropped.cuh");
    tree.write(path, user);
  }
  EXPECT_EQ(changed(before, all_digests(tree)), Names{});
}

TEST(Sources, TellTestsDeviceCodeWithWhatItIncludes) {
  const Tree tree;
  const std::string checks = "tests/kernels/tile_counter_checks.cuh";
  const auto before = Sources(tree.path()).digest(checks);
  ASSERT_TRUE(before);
  tree.append("kernels/tile/tile_counter.cuh", "\nstruct Another {};\n");
  EXPECT_NE(Sources(tree.path()).digest(checks), before);
  EXPECT_FALSE(Sources(tree.path()).digest("tests/kernels/none_checks.cuh"));
  EXPECT_FALSE(Sources(tree.path()).digest("no_such_family"));
}

/// Lists of families, and which configurations fit.
const std::set<std::string> kOfNoKernel = {"list.hpp", "families.hpp", "families.cpp", "fit.hpp", "fit.cpp"};

// What no digest is over could change without anybody noticing.
TEST(Sources, OverlookNoKernelAndNoFilesOfFamilies) {
  namespace fs = std::filesystem;
  const fs::path root = test::source_dir();
  Sources sources(root);
  Names covered = sources.files(std::string(kLaunching));
  for (const Family* family : all_families()) covered.merge(sources.files(std::string(family->name)));
  for (const std::string& room : rooms(sources)) covered.merge(sources.files("tests/kernels/" + room + "_checks.cuh"));
  for (const char* folder : {"kernels", "src/families", "src/launch", "src/specialise"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && !kOfNoKernel.contains(entry.path().filename().string())) {
        const std::string path = fs::relative(entry.path(), root).string();
        EXPECT_TRUE(covered.contains(path)) << path << " is no part of any family";
      }
}

}  // namespace
}  // namespace hstujit::gpu_record
