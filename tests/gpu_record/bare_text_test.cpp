#include "gpu_record/bare_text.hpp"

#include <gtest/gtest.h>

namespace hstujit::gpu_record {
namespace {

TEST(BareText, HasNoCommentsAndNoLineBreaks) {
  EXPECT_EQ(bare_text("int a;  // one\n/* two\n   three */ int\n  b = 1;\n"), bare_text("int a; int b=1;"));
  EXPECT_EQ(bare_text("f(\n    a,\n    b);"), "f(a,b);");
  EXPECT_EQ(bare_text("a /* x */ b"), "a b");
  EXPECT_EQ(bare_text("a; // goes \\\n on\nb;"), "a;b;");
}

TEST(BareText, KeepsWordsAndOperatorsApart) {
  EXPECT_EQ(bare_text("unsigned   int x = y - -z;"), "unsigned int x=y- -z;");
  EXPECT_NE(bare_text("a + +b"), bare_text("a++b"));
  EXPECT_NE(bare_text("x > > y"), bare_text("x >> y"));
  EXPECT_EQ(bare_text("return\n  x;"), "return x;");
}

TEST(BareText, LeavesLiteralsAsTheyAre) {
  EXPECT_EQ(bare_text(R"(s = "a // b  /* c */";)"), R"(s="a // b  /* c */";)");
  EXPECT_EQ(bare_text(R"(s = "a \" // b"; // c)"), R"(s="a \" // b";)");
  EXPECT_EQ(bare_text("s = R\"x(// a )\" \n b)x\"; // c"), "s=R\"x(// a )\" \n b)x\";");
  EXPECT_EQ(bare_text("c = '\"'; // '\n d = '\\'';"), "c='\"';d='\\'';");
  EXPECT_EQ(bare_text("n = 1'000'000; // x"), "n=1'000'000;");
  EXPECT_NE(bare_text(R"(f("a  b"))"), bare_text(R"(f("a b"))"));
}

TEST(BareText, KeepsTheLinesOfDirectives) {
  EXPECT_EQ(bare_text("#pragma  once // x\n\n  #  define F(x) \\\n  (x + 1)\nint a;\n"),
            "#pragma once\n#define F(x) (x + 1)\nint a;");
  EXPECT_NE(bare_text("#define F (x)\n"), bare_text("#define F(x)\n"));
  EXPECT_EQ(bare_text("int a;\n#if X\nint b;\n#endif\n"), "int a;\n#if X\nint b;\n#endif\n");
}

TEST(BareText, TakesTextsThatEndTooSoon) {
  EXPECT_EQ(bare_text(""), "");
  EXPECT_EQ(bare_text("a /* b"), "a");
  EXPECT_EQ(bare_text("a \"b"), "a \"b");
  EXPECT_EQ(bare_text("R\"x(b"), "R\"x(b");
  EXPECT_EQ(bare_text("R\"b"), "R\"b");
  EXPECT_EQ(bare_text("#error don't\nb"), "#error don't\nb");
  EXPECT_EQ(bare_text("// b"), "");
  EXPECT_EQ(bare_text("/*"), "");
}

}  // namespace
}  // namespace hstujit::gpu_record
