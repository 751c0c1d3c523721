// Arguments that move to other buffers without being prepared again must come out as if they had been.
#include "operators/movable_args.hpp"

#include "operators/sample_args.hpp"
#include "support/moving.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace hstujit::test {
namespace {

/// What prepare() makes of the arguments; nothing when it refuses.
std::optional<std::pair<Problem, ArgsBytes>> prepared_anew(const Operator& op, const void* args) {
  std::pair<Problem, ArgsBytes> out;
  std::memcpy(out.second.data(), args, op.args_size);
  try {
    out.first = op.prepare(out.second.data());
  } catch (const Error&) { return std::nullopt; }
  return out;
}

/// Every buffer elsewhere, all at the old distances from one another.
ArgsBytes all_shifted(const Operator& op, const void* args) {
  constexpr size_t kFar = size_t{1} << 32;
  ArgsBytes out;
  std::memcpy(out.data(), args, op.args_size);
  for (const TensorSlot& slot : op.tensors) {
    auto& t = *reinterpret_cast<hstu_tensor*>(out.data() + slot.offset);
    if (present(t) && t.data) t.data = static_cast<std::byte*>(t.data) + kFar;
  }
  return out;
}

TEST(MovableArgs, HaveRoomForEveryOperatorsTensors) {
  for (const Operator& op : operators()) EXPECT_LE(op.tensors.size(), MovableArgs::kMostTensors) << op.name;
}

TEST(MovableArgs, ComeOutAsIfPrepared) {
  std::set<std::string_view> operators_moved;
  int moved = 0, stayed = 0;
  for (auto& [op, args] : workload_calls()) {
    const MovableArgs movable(*op, address(args));
    EXPECT_TRUE(movable.moves(all_shifted(*op, address(args)).data())) << op->name << ": all buffers together";
    Random random(7);
    for (int round = 0; round < 200; ++round) {
      const ArgsBytes fresh = moved_somewhere(*op, address(args), random);
      const bool done = movable.moves(fresh.data());
      ++(done ? moved : stayed);
      if (!done) continue;
      ArgsBytes out;
      movable.move(fresh.data(), out);
      operators_moved.insert(op->name);
      const auto truth = prepared_anew(*op, fresh.data());
      ASSERT_TRUE(truth) << op->name << " refuses what was moved";
      ASSERT_EQ(truth->first, movable.problem()) << op->name;
      ASSERT_EQ(std::memcmp(truth->second.data(), out.data(), op->args_size), 0) << op->name;
    }
  }
  EXPECT_GT(operators_moved.size(), 30u);
  EXPECT_GT(moved, 1000);
  EXPECT_GT(stayed, 1000);
}

TEST(MovableArgs, AreTheSameOnlyByteForByte) {
  hstu_layer_norm_args args = sample_layer_norm();
  const MovableArgs movable(operator_of(Op::layer_norm), &args);
  EXPECT_TRUE(movable.same(&args));
  args.out.data = slot(9);
  EXPECT_FALSE(movable.same(&args));
}

TEST(MovableArgs, StayWhenMoreThanAddressesDiffers) {
  const hstu_layer_norm_args args = sample_layer_norm();
  const MovableArgs movable(operator_of(Op::layer_norm), &args);
  const auto moves = [&](auto change) {
    hstu_layer_norm_args other = args;
    change(other);
    return movable.moves(&other);
  };
  EXPECT_TRUE(moves([](auto& a) { a.x.data = slot(9); }));
  EXPECT_FALSE(moves([](auto& a) { a.x.data = slot(9, 2); })) << "another alignment";
  EXPECT_FALSE(moves([](auto& a) { a.x.data = nullptr; }));
  EXPECT_FALSE(moves([](auto& a) { a.out.data = slot(0, 128); })) << "the output meets x";
  EXPECT_FALSE(moves([](auto& a) { a.x.shape[0] = a.out.shape[0] = 39; }));
  EXPECT_FALSE(moves([](auto& a) { a.eps = 1e-3f; }));
  EXPECT_FALSE(moves([](auto& a) { a.bias = {}; }));
}

TEST(MovableArgs, MoveTheirWorkspace) {
  auto args = sized<hstu_layer_norm_backward_args>();
  args.forward.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 40, 96);
  args.forward.weight = hstu_vector(slot(1), HSTU_DTYPE_F32, 96);
  args.forward.bias = hstu_vector(slot(2), HSTU_DTYPE_F32, 96);
  args.dout = hstu_matrix(slot(3), HSTU_DTYPE_BF16, 40, 96);
  args.dbias = hstu_vector(slot(4), HSTU_DTYPE_F32, 96);
  args.workspace = slot(5);
  args.workspace_size = size_t{1} << 16;
  const MovableArgs movable(operator_of(Op::layer_norm_backward), &args);
  args.workspace = slot(9);
  EXPECT_TRUE(movable.moves(&args));
  ArgsBytes moved;
  movable.move(&args, moved);
  EXPECT_EQ(workspace_at(moved.data(), *movable.op().workspace), slot(9));
  args.workspace = slot(3, 128);
  EXPECT_FALSE(movable.moves(&args)) << "over dout";
  args.workspace = slot(5);
  args.workspace_size -= 256;
  EXPECT_FALSE(movable.moves(&args)) << "less than before";
}

TEST(MovableArgs, AnOutputInPlaceMovesWithItsInput) {
  hstu_layer_norm_args args = sample_layer_norm();
  args.out = args.x;
  const MovableArgs movable(operator_of(Op::layer_norm), &args);
  args.x.data = args.out.data = slot(9);
  EXPECT_TRUE(movable.moves(&args));
  args.out.data = slot(9, 128);
  EXPECT_FALSE(movable.moves(&args)) << "half over it";
}

}  // namespace
}  // namespace hstujit::test
