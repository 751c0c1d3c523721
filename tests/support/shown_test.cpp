// Foreign text in messages moves no cursor, writes no lines of its own and is short; deep JSON is refused, not walked.
#include "support/shown.hpp"

#include "support/captured_log.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

TEST(Shown, EscapesControlCharactersAndWhatIsNoUtf8) {
  EXPECT_EQ(shown("plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(shown("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(shown("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
  EXPECT_EQ(shown(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(shown("\xc2\x9b"), "\\xc2\\x9b") << "U+009B begins a sequence, too";
  EXPECT_EQ(shown("\x9b\xff\xc0\x80\xed\xa0\x80"), "\\x9b\\xff\\xc0\\x80\\xed\\xa0\\x80");
  EXPECT_EQ(shown("\xe2\x82"), "\\xe2\\x82") << "cut in the middle";
  EXPECT_EQ(escaped("a\n\tb\x1b", Lines::many), "a\n\tb\\x1b");
}

TEST(Shown, HasEightyCharacters) {
  EXPECT_EQ(shown(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(shown(std::string(81, 'x')), std::string(80, 'x') + "...");
  std::string wide;
  for (int i = 0; i < 90; ++i) wide += "\xc3\xa4";
  EXPECT_EQ(shown(wide).size(), 80u * 2 + 3);
  EXPECT_EQ(escaped(std::string(1000, 'x')), std::string(1000, 'x'));
}

TEST(Shown, OfJsonIsAScalarsBeginningAndOfOthersWhatTheyAre) {
  EXPECT_EQ(shown_json(read_json("17")), "17");
  EXPECT_EQ(shown_json(read_json("\"a\\nb\"")), "\"a\\x0ab\"");
  EXPECT_EQ(shown_json(Json(std::string(100'000, 'x'))).size(), 80u + 5);
  EXPECT_EQ(shown_json(read_json("[1,2,[3]]")), "[a list of 3]");
  EXPECT_EQ(shown_json(read_json("[]")), "[]");
  EXPECT_EQ(shown_json(read_json("{}")), "{}");
  EXPECT_EQ(shown_json(read_json("{\"a\":{}}")), "{an object of 1}");
}

TEST(Shown, ALogHasNoLinesOfOthers) {
  test::CapturedLog log;
  hstujit::log().warn("{} is odd", "\x1b[2Jname\nwarning forged");
  EXPECT_EQ(log.str(), "warning \\x1b[2Jname\n    warning forged is odd\n");
}

std::string nested(int depth, char open, char close) {
  const std::string key = open == '{' ? "\"a\":" : "";
  std::string text;
  for (int i = 0; i < depth; ++i) text += (i == 0 ? "" : key) + open;
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ReadJson, TakesSixtyFourLevelsAndNoMore) {
  for (const auto& [open, close] : {std::pair('[', ']'), std::pair('{', '}')}) {
    EXPECT_NO_THROW(read_json(nested(64, open, close)));
    EXPECT_THROW(read_json(nested(65, open, close)), Json::exception);
    EXPECT_TRUE(read_json(nested(65, open, close), nullptr, false).is_discarded());
    EXPECT_THROW(read_json(nested(200'000, open, close)), Json::exception);
  }
  EXPECT_THROW(read_json(std::string(200'000, '[')), Json::exception);
}

TEST(ReadJson, CountsNoBracketsInTexts) {
  EXPECT_EQ(read_json("[\"" + std::string(1000, '[') + "\"]").at(0).get<std::string>().size(), 1000u);
  EXPECT_EQ(read_json("[\"\\\"" + std::string(1000, '{') + "\",\"\\\\\"]").size(), 2u);
  std::string many = "[[]";
  for (int i = 0; i < 1000; ++i) many += ",[]";
  EXPECT_EQ(read_json(many + "]").size(), 1001u);
}

TEST(ReadJson, WhatItSaysIsShort) {
  try {
    read_json("[\"" + std::string(100'000, 'x'));
    FAIL();
  } catch (const Json::exception& error) { EXPECT_LT(shown_reason(error).size(), 300u); }
}

}  // namespace
}  // namespace hstujit
