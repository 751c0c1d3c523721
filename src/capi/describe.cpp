#include "capi/describe.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace hstujit {
namespace {

struct Names {
  const char *function, *args, *workspace;
};
#define HSTUJIT_NAMES(op, args_type, function) {#function, #args_type, #function "_workspace_size"},
constexpr Names kNames[] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_NAMES)};
#undef HSTUJIT_NAMES

hstu_member_kind kind_of(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return HSTU_MEMBER_INPUT;
    case TensorRole::integer:
      return HSTU_MEMBER_INTEGERS;
    case TensorRole::output:
      break;
  }
  return HSTU_MEMBER_OUTPUT;
}

hstu_member_kind kind_of(const ScalarSlot& slot) {
  if (!slot.words.empty()) return HSTU_MEMBER_ENUM;
  switch (slot.kind) {
    case ScalarSlot::Kind::f32:
      return HSTU_MEMBER_F32;
    case ScalarSlot::Kind::f64:
      return HSTU_MEMBER_F64;
    case ScalarSlot::Kind::i32:
      return HSTU_MEMBER_I32;
    case ScalarSlot::Kind::i64:
      break;
  }
  return HSTU_MEMBER_I64;
}

/// Facts have their names from literals, which end in zero.
const char* text_of(std::string_view literal) { return literal.data(); }

hstu_member without_tensor(const char* name, size_t offset, size_t size, hstu_member_kind kind) {
  hstu_member member{};
  member.name = name;
  member.offset = offset;
  member.size = size;
  member.kind = kind;
  std::ranges::fill(member.free_strides, TensorForm::kNoRank);
  return member;
}

hstu_member member_of(const TensorSlot& slot) {
  hstu_member member = without_tensor(text_of(slot.name), slot.offset, sizeof(hstu_tensor), kind_of(slot.role));
  member.optional = slot.form.optional;
  member.accumulates = slot.accumulates;
  member.dtypes = slot.form.dtypes;
  std::ranges::copy(slot.form.free_strides, member.free_strides);
  return member;
}

hstu_member member_of(const ScalarSlot& slot) {
  const bool wide = slot.kind == ScalarSlot::Kind::f64 || slot.kind == ScalarSlot::Kind::i64;
  hstu_member member = without_tensor(text_of(slot.name), slot.offset, wide ? 8 : 4, kind_of(slot));
  member.optional = !slot.zero.refused;
  member.default_value = slot.zero.means;
  return member;
}

/// A description, and the arrays that it points to.
class Description {
 public:
  Description(const Operator& op, const Names& names) {
    members_.reserve(op.tensors.size() + op.scalars.size() + 2);
    std::ranges::transform(op.tensors, std::back_inserter(members_), [](const TensorSlot& s) { return member_of(s); });
    add_scalars(op);
    if (op.workspace) add_workspace(*op.workspace);
    all_ = {.struct_size = sizeof all_,
            .name = text_of(op.name),
            .function = names.function,
            .args = names.args,
            .workspace = op.workspace ? names.workspace : nullptr,
            .args_size = op.args_size,
            .members = members_.data(),
            .num_members = members_.size(),
            .member_size = sizeof(hstu_member)};
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  const hstu_operator_description& all() const { return all_; }

 private:
  void add_scalars(const Operator& op) {
    words_.reserve(op.scalars.size());  // members point into it
    for (const ScalarSlot& slot : op.scalars) {
      hstu_member& member = members_.emplace_back(member_of(slot));
      if (slot.words.empty()) continue;
      std::vector<const char*>& words = words_.emplace_back();
      std::ranges::transform(slot.words, std::back_inserter(words), text_of);
      member.words = words.data();
      member.num_words = words.size();
    }
  }

  void add_workspace(const WorkspaceSlot& slot) {
    members_.push_back(without_tensor("workspace", slot.address, sizeof(void*), HSTU_MEMBER_WORKSPACE));
    members_.push_back(without_tensor("workspace_size", slot.size, sizeof(size_t), HSTU_MEMBER_WORKSPACE_SIZE));
    for (size_t i = members_.size() - 2; i < members_.size(); ++i) members_[i].optional = 1;  // where they need be 0
  }

  std::vector<hstu_member> members_;
  std::vector<std::vector<const char*>> words_;
  hstu_operator_description all_;
};

}  // namespace

const hstu_operator_description& description_of(const Operator& op) {
#define HSTUJIT_DESCRIBE(name, args_type, function) \
  Description(operator_of(Op::name), kNames[static_cast<size_t>(Op::name)]),
  static const Description all[kOpCount] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_DESCRIBE)};
#undef HSTUJIT_DESCRIBE
  return all[static_cast<size_t>(op.op)].all();
}

}  // namespace hstujit
