// Integers of foreign JSON are taken when they are integers and fit, and not otherwise.
#include "support/json_integer.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

using json = Json;

TEST(JsonInteger, IsTakenWhenItFits) {
  EXPECT_EQ(integer_as<int32_t>(json::parse("-2147483648")), INT32_MIN);
  EXPECT_EQ(integer_as<int32_t>(json::parse("2147483647")), INT32_MAX);
  EXPECT_EQ(integer_as<uint64_t>(json::parse("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ(integer_as<size_t>(json(7)), 7u);
}

TEST(JsonInteger, IsRefusedBeyondItsType) {
  EXPECT_FALSE(integer_as<int32_t>(json::parse("2147483648")));
  EXPECT_FALSE(integer_as<int32_t>(json::parse("-2147483649")));
  EXPECT_FALSE(integer_as<int64_t>(json::parse("9223372036854775808")));
  EXPECT_FALSE(integer_as<size_t>(json::parse("-1")));
}

TEST(JsonInteger, IsNothingElse) {
  for (const char* text : {"1e65", "1.0", "-0.5", "true", "null", "\"7\"", "[7]", "{\"a\":7}"})
    EXPECT_FALSE(integer_as<int64_t>(json::parse(text))) << text;
}

}  // namespace
}  // namespace hstujit
