// Names from before: each is read as today's, and no other operator or member is called so.
#include "operators/aliases.hpp"

#include "operators/operators.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hstujit {
namespace {

bool has_member(Op op, std::string_view name) {
  const Operator& facts = operator_of(op);
  const auto is_it = [&](const auto& slot) { return slot.name == name; };
  return std::any_of(facts.tensors.begin(), facts.tensors.end(), is_it) ||
         std::any_of(facts.scalars.begin(), facts.scalars.end(), is_it);
}

TEST(Aliases, OperatorsThatWereRenamedAreFoundUnderBothNames) {
  const std::pair<const char*, Op> renamed[] = {{"hstu_attention", Op::attention},
                                                {"hstu_attention_fp8", Op::attention_fp8},
                                                {"delta_hstu_attention", Op::delta_attention},
                                                {"paged_hstu_attention", Op::paged_attention}};
  for (const auto& [before, op] : renamed) {
    EXPECT_EQ(op_named(before), op) << before;
    EXPECT_EQ(op_named(name_of(op)), op) << before;
    EXPECT_NE(name_of(op), before);
  }
  EXPECT_EQ(op_named("hstu_layer_norm"), std::nullopt);
}

TEST(Aliases, AProblemInARecordFromBeforeIsTodays) {
  const std::string today =
      "delta_attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=4 heads_per_kv=1 offset_dtype=i64 "
      "q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=64 max_seq_len=2048 rab=0 "
      "page_gaps=0";
  const auto problem = parse_problem("delta_hstu" + today.substr(5));
  ASSERT_TRUE(problem);
  EXPECT_EQ(text(*problem), today) << "it is written with today's name";
}

TEST(Aliases, MembersAreThereTodayAndWereNotThereBefore) {
  for (const OldMember& old : old_members()) {
    EXPECT_TRUE(has_member(old.op, old.now)) << name_of(old.op) << '.' << old.now;
    EXPECT_TRUE(old.rank > 0 || !has_member(old.op, old.before)) << name_of(old.op) << '.' << old.before;
  }
}

}  // namespace
}  // namespace hstujit
