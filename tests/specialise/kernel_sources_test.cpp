// Finding kernel text, and a digest that follows exactly what a header includes.
#include "specialise/kernel_sources.hpp"

#include "families/family.hpp"
#include "support/embedded_text.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hstujit {
namespace {

class KernelFolder : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = dir_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Digest digest_of(const std::string& header) { return KernelSources(dir_.str()).closure(header).digest; }
  std::string folder() const { return dir_.str(); }

 private:
  test::TempDir dir_;
};

TEST(IncludedNames, AreThoseOfQuotedIncludeLines) {
  EXPECT_EQ(included_names("#include \"a.cuh\"\n  #  include\t\"prim/b.cuh\"  // why\n#include <c>\n"
                           "// #include \"d.cuh\"\nint include;\nint x;  #include \"f.cuh\"\n\t## include \"g.cuh\"\n"
                           "#include \"e.cuh\""),
            (std::vector<std::string>{"a.cuh", "prim/b.cuh", "e.cuh"}));
  EXPECT_TRUE(included_names("").empty());
  EXPECT_TRUE(included_names("#include \"never closed\n#define include \"x\"\n").empty());
}

TEST_F(KernelFolder, ClosureHoldsEverythingIncludedOnce) {
  write("k.cuh", "#include \"prim/a.cuh\"\n#include \"prim/b.cuh\"\n");
  write("prim/a.cuh", "#pragma once\n#include \"prim/b.cuh\"\n");
  write("prim/b.cuh", "#pragma once\n#include \"prim/a.cuh\"\n");
  write("other.cuh", "");
  KernelSources sources(folder());
  const SourceClosure& closure = sources.closure("k.cuh");
  ASSERT_EQ(closure.files.size(), 3u);
  EXPECT_STREQ(closure.files[0].name, "k.cuh");
  EXPECT_STREQ(closure.files[1].name, "prim/a.cuh");
  EXPECT_STREQ(closure.files[2].name, "prim/b.cuh");
}

TEST_F(KernelFolder, DigestFollowsIncludedFilesOnly) {
  write("k.cuh", "#include \"prim/a.cuh\"\n");
  write("prim/a.cuh", "int a;\n");
  write("other.cuh", "int x;\n");
  const Digest before = digest_of("k.cuh");
  write("other.cuh", "int y;\n");
  EXPECT_EQ(digest_of("k.cuh"), before);
  write("prim/a.cuh", "int b;\n");
  EXPECT_NE(digest_of("k.cuh"), before);
}

TEST_F(KernelFolder, OneObjectNeverMixesVersions) {
  write("k.cuh", "int a;\n");
  KernelSources sources(folder());
  const Digest before = sources.closure("k.cuh").digest;
  write("k.cuh", "int b;\n");
  EXPECT_EQ(sources.closure("k.cuh").digest, before);
}

TEST_F(KernelFolder, MissingHeaderIsNamedWithItsIncluder) {
  write("k.cuh", "#include \"prim/gone.cuh\"\n");
  try {
    digest_of("k.cuh");
    FAIL() << "prim/gone.cuh does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_COMPILE);
    EXPECT_NE(error.message().find("prim/gone.cuh"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("wanted by k.cuh"), std::string::npos) << error.message();
  }
}

TEST(EmbeddedKernels, EveryFileFindsWhatItIncludes) {
  KernelSources sources;
  ASSERT_FALSE(embedded_kernels().empty());
  for (const EmbeddedFile& file : embedded_kernels()) EXPECT_NO_THROW(sources.closure(file.name)) << file.name;
}

// True when a kernel was edited after this program was built: then the two may differ.
bool edited_since_build(const std::filesystem::path& folder) {
  const auto built = std::filesystem::last_write_time("/proc/self/exe");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.last_write_time() > built) return true;
  return false;
}

TEST(EmbeddedKernels, EqualTheFilesOfTheFolder) {
  if (edited_since_build(test::source_dir() / "kernels")) GTEST_SKIP() << "kernels were edited after this build";
  ASSERT_GT(embedded_kernels().size(), 100u);
  KernelSources embedded, folder((test::source_dir() / "kernels").string());
  for (const EmbeddedFile& file : embedded_kernels())
    EXPECT_EQ(embedded.closure(file.name).digest, folder.closure(file.name).digest) << file.name;
}

// A constant of internal linkage goes into the binary under a name with the compiling process's id, so that no two
// processes compile the same bytes and no two builds the same pack.
TEST(EmbeddedKernels, ConstantsOfNamespacesAreInline) {
  for (const EmbeddedFile& file : embedded_kernels()) {
    std::string_view before, rest = file.text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const bool constant = line.starts_with("constexpr ") && line.find('(') > line.find('=');
      EXPECT_FALSE(constant && !before.starts_with("template")) << file.name << ": write inline constexpr: " << line;
      before = line;
    }
  }
}

TEST(EmbeddedKernels, UnknownNameIsADefect) {
  try {
    KernelSources().closure("no_such_family.cuh");
    FAIL() << "there is no such family";
  } catch (const Error& error) { EXPECT_EQ(error.status(), HSTU_ERROR_INTERNAL); }
}

// Launched with the attribute, a kernel that does not wait would read what the one before has still to write.
TEST(KernelSources, FamiliesThatStartEarlyHaveTheWaitInTheirKernels) {
  KernelSources sources("");
  int early = 0;
  for (const Family* family : all_families()) {
    if (!family->dependent_launch) continue;
    ++early;
    bool waits = false;
    for (const auto& file : sources.closure(family->header()).files)
      waits = waits || (std::string_view(file.name) != "tile/dependent_launch.cuh" &&
                        std::string_view(file.text).find("wait_for_kernels_before();") != std::string::npos);
    EXPECT_TRUE(waits) << family->name;
  }
  EXPECT_GT(early, 0);
}

}  // namespace
}  // namespace hstujit
