// hstu_operator_describe: every operator of the table, as a program that never saw its header would read it.
#include "operators/operators.hpp"
#include "support/files.hpp"
#include "support/source_dir.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace hstujit {
namespace {

const hstu_operator_description& description_of(const char* op) {
  const hstu_operator_description* out = nullptr;
  EXPECT_EQ(hstu_operator_describe(&out, op), HSTU_OK) << hstu_last_error();
  return *out;
}

std::vector<hstu_member> members_of(const hstu_operator_description& d) {
  std::vector<hstu_member> all(d.num_members);
  for (size_t i = 0; i < d.num_members; ++i)
    std::memcpy(&all[i], reinterpret_cast<const std::byte*>(d.members) + i * d.member_size, sizeof(hstu_member));
  return all;
}

hstu_member member_called(const hstu_operator_description& d, std::string_view name) {
  const std::vector<hstu_member> all = members_of(d);
  const auto found = std::ranges::find_if(all, [&](const hstu_member& m) { return m.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return found == all.end() ? hstu_member{} : *found;
}

bool is_tensor(const hstu_member& m) { return m.kind <= HSTU_MEMBER_OUTPUT; }

TEST(Describe, TellsOfAGradientWhatItsHeaderSays) {
  using Args = hstu_layer_norm_backward_args;
  const hstu_operator_description& d = description_of("layer_norm_backward");
  EXPECT_EQ(d.struct_size, sizeof d);
  EXPECT_EQ(d.member_size, sizeof(hstu_member));
  EXPECT_STREQ(d.name, "layer_norm_backward");
  EXPECT_STREQ(d.function, "hstu_layer_norm_backward");
  EXPECT_STREQ(d.args, "hstu_layer_norm_backward_args");
  EXPECT_STREQ(d.workspace, "hstu_layer_norm_backward_workspace_size");
  EXPECT_EQ(d.args_size, sizeof(Args));

  const hstu_member x = member_called(d, "x"), dout = member_called(d, "dout"), dw = member_called(d, "dweight");
  EXPECT_EQ(x.offset, offsetof(Args, forward.x)) << "of a struct within";
  EXPECT_EQ(x.kind, HSTU_MEMBER_INPUT);
  EXPECT_EQ(x.optional, 0);
  EXPECT_EQ(dout.offset, offsetof(Args, dout));
  EXPECT_EQ(dw.kind, HSTU_MEMBER_OUTPUT);
  EXPECT_EQ(dw.optional, 1);
  EXPECT_EQ(dw.accumulates, 1);
  EXPECT_EQ(member_called(d, "dx").accumulates, 0);
  EXPECT_EQ(member_called(d, "valid_rows").kind, HSTU_MEMBER_INTEGERS);
  EXPECT_EQ(member_called(d, "accumulate").kind, HSTU_MEMBER_I32);

  const hstu_member determinism = member_called(d, "determinism"), eps = member_called(d, "eps");
  EXPECT_EQ(determinism.kind, HSTU_MEMBER_ENUM);
  ASSERT_EQ(determinism.num_words, 2u);
  EXPECT_STREQ(determinism.words[HSTU_FASTEST], "fastest");
  EXPECT_EQ(eps.kind, HSTU_MEMBER_F32);
  EXPECT_EQ(eps.default_value, static_cast<double>(1e-5f));

  const hstu_member space = member_called(d, "workspace"), bytes = member_called(d, "workspace_size");
  EXPECT_EQ(space.kind, HSTU_MEMBER_WORKSPACE);
  EXPECT_EQ(space.offset, offsetof(Args, workspace));
  EXPECT_EQ(bytes.kind, HSTU_MEMBER_WORKSPACE_SIZE);
  EXPECT_EQ(bytes.offset, offsetof(Args, workspace_size));
}

TEST(Describe, TellsTypesAndStridesByBitAndRank) {
  const hstu_operator_description& d = description_of("quantize_fp8");
  const hstu_member x = member_called(d, "x"), q = member_called(d, "q"), descale = member_called(d, "descale");
  EXPECT_EQ(x.dtypes, 1u << HSTU_DTYPE_F32 | 1u << HSTU_DTYPE_F16 | 1u << HSTU_DTYPE_BF16 | 1u << HSTU_DTYPE_F64);
  EXPECT_EQ(q.dtypes, 1u << HSTU_DTYPE_E4M3 | 1u << HSTU_DTYPE_E5M2);
  EXPECT_EQ(std::vector<int>(x.free_strides, x.free_strides + 8), (std::vector{-1, -1, 1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(std::vector<int>(descale.free_strides, descale.free_strides + 8),
            (std::vector{-1, 0, 2, -1, -1, -1, -1, -1}));
  EXPECT_EQ(d.workspace, nullptr);
}

TEST(Describe, TellsWhatZeroCountsAs) {
  EXPECT_EQ(member_called(description_of("rms_norm_rope"), "eps").default_value, static_cast<double>(1e-6f));
  EXPECT_EQ(member_called(description_of("add_positional_embeddings"), "alpha").default_value, 1);
  EXPECT_TRUE(std::isinf(member_called(description_of("quantize_fp8"), "amax_bound").default_value));
  const hstu_operator_description& attention = description_of("attention");
  EXPECT_TRUE(std::isnan(member_called(attention, "alpha").default_value)) << "the root of the head dim";
  EXPECT_EQ(member_called(attention, "alpha").optional, 1);
  EXPECT_EQ(member_called(attention, "max_seq_len").optional, 0);
  EXPECT_EQ(member_called(attention, "mask").offset, offsetof(hstu_attention_args, mask.kind));
}

TEST(Describe, AgreesWithTheTableOfOperators) {
  ASSERT_EQ(hstu_operator_count(), kOpCount);
  for (int32_t i = 0; i < hstu_operator_count(); ++i) {
    const hstu_operator_description& d = description_of(hstu_operator_name(i));
    SCOPED_TRACE(d.name);
    const Operator& op = operators()[static_cast<size_t>(i)];
    EXPECT_EQ(&d, &description_of(d.name)) << "static memory";
    EXPECT_STREQ(d.name, hstu_operator_name(i));
    EXPECT_EQ(d.function, "hstu_" + std::string(d.name));
    EXPECT_EQ(d.args, d.function + std::string("_args"));
    EXPECT_EQ(d.args_size, op.args_size);
    const size_t of_workspace = op.workspace ? 2 : 0;
    ASSERT_EQ(d.num_members, op.tensors.size() + op.scalars.size() + of_workspace);
    const std::vector<hstu_member> members = members_of(d);
    EXPECT_EQ(std::ranges::count_if(members, is_tensor), std::ssize(op.tensors));
    for (const TensorSlot& slot : op.tensors) EXPECT_EQ(member_called(d, slot.name).offset, slot.offset) << slot.name;
    for (const ScalarSlot& slot : op.scalars) {
      const hstu_member m = member_called(d, slot.name);
      EXPECT_EQ(m.offset, slot.offset) << slot.name;
      ASSERT_EQ(m.num_words, slot.words.size()) << slot.name;
      EXPECT_EQ(m.kind == HSTU_MEMBER_ENUM, m.num_words > 0) << slot.name;
      for (size_t w = 0; w < m.num_words; ++w) EXPECT_EQ(m.words[w], slot.words[w]);
    }
  }
}

/// Members of 4 bytes that a struct within has and that the operator does not read, or only takes as 0.
std::vector<size_t> undescribed(std::string_view op) {
  if (op == "flash_attention") return {offsetof(hstu_flash_attention_args, mask.target_group_size)};
  if (op == "layer_norm_backward") return {offsetof(hstu_layer_norm_backward_args, forward.scaling)};
  return {};
}

/// A member that is described as half as wide as it is leaves the other half.
TEST(Describe, MembersLieApartAndLeaveNoHalves) {
  for (int32_t i = 0; i < hstu_operator_count(); ++i) {
    const hstu_operator_description& d = description_of(hstu_operator_name(i));
    SCOPED_TRACE(d.name);
    std::vector<hstu_member> members = members_of(d);
    for (const size_t offset : undescribed(d.name)) {
      hstu_member& other = members.emplace_back();
      other.name = "undescribed";
      other.offset = offset;
      other.size = 4;
      other.kind = HSTU_MEMBER_I32;
    }
    std::ranges::sort(members, {}, &hstu_member::offset);
    size_t end = sizeof(size_t);  // of struct_size
    for (const hstu_member& m : members) {
      SCOPED_TRACE(m.name);
      EXPECT_GE(m.offset, end);
      EXPECT_EQ((m.offset - end) % 8, 0u);
      EXPECT_EQ(m.size, is_tensor(m) ? sizeof(hstu_tensor) : m.size == 4 ? 4u : 8u);
      end = m.offset + m.size;
      EXPECT_EQ(std::ranges::count_if(members, [&](const hstu_member& o) { return !std::strcmp(o.name, m.name); }), 1);
    }
    EXPECT_LE(end, d.args_size);
    EXPECT_EQ((d.args_size - end) % 8, 0u);
  }
}

TEST(Describe, WorkspacesHaveTheFunctionThatIsNamed) {
  int described = 0;
  std::string headers;
  for (const char* header : {"attention", "dense", "fp8", "jagged", "norm", "position"}) {
    std::string text;
    ASSERT_EQ(read_file((test::source_dir() / "include/hstujit" / (std::string(header) + ".h")).string(), text), 0);
    headers += text;
  }
  for (int32_t i = 0; i < hstu_operator_count(); ++i) {
    const hstu_operator_description& d = description_of(hstu_operator_name(i));
    if (!d.workspace) continue;
    ++described;
    EXPECT_NE(headers.find("HSTU_API hstu_status " + std::string(d.workspace) + "("), std::string::npos) << d.workspace;
  }
  EXPECT_GE(described, 1);
}

TEST(Describe, FindsOperatorsUnderTheirOldNamesAndRefusesOthers) {
  EXPECT_STREQ(description_of("hstu_attention").name, "attention");
  const hstu_operator_description* out = &description_of("addmm");
  for (const char* name : {"addm", "", "stack"}) {
    EXPECT_EQ(hstu_operator_describe(&out, name), HSTU_ERROR_INVALID_ARGUMENT) << name;
    EXPECT_EQ(out, nullptr);
    EXPECT_NE(std::string(hstu_last_error()).find("hstu_operator_name"), std::string::npos) << hstu_last_error();
  }
  EXPECT_EQ(hstu_operator_describe(&out, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_operator_describe(nullptr, "addmm"), HSTU_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace hstujit
