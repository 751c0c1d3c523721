#include "support/moving.hpp"

#include "launch/address_places.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace hstujit::test {
namespace {

constexpr uintptr_t kBase = uintptr_t{1} << 44, kApart = uintptr_t{1} << 36;  // further than any tensor reaches
void* const kTileCounters = reinterpret_cast<void*>(kBase - kApart);

bool same(const Launch& a, const Launch& b) {
  return std::memcmp(a.grid, b.grid, sizeof a.grid) == 0 && std::memcmp(a.block, b.block, sizeof a.block) == 0 &&
         a.smem_bytes == b.smem_bytes && a.cluster == b.cluster && a.dependent == b.dependent &&
         std::memcmp(a.params, b.params, sizeof a.params) == 0;
}

}  // namespace

std::vector<std::pair<const Operator*, AnyArgs>> workload_calls() {
  std::ifstream in(source_dir() / "tools/workloads/figures.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Workload workload = parse_workload(text);
  std::vector<std::pair<const Operator*, AnyArgs>> out;
  for (const Calls& calls : expand(workload))
    for (const Call& call : calls.calls) {
      std::vector<void*> bases;
      for (size_t i = 0; i < calls.buffers.size(); ++i) bases.push_back(reinterpret_cast<void*>(kBase + i * kApart));
      out.emplace_back(&operator_of(call.op), placed_args(call, calls, bases));
    }
  return out;
}

ArgsBytes moved_somewhere(const Operator& op, const void* args, Random& random) {
  ArgsBytes fresh;
  std::memcpy(fresh.data(), args, op.args_size);
  for (const TensorSlot& slot : op.tensors) {
    hstu_tensor& t = tensor_at(fresh.data(), slot);
    if (!present(t) || random.below(2) == 0) continue;
    const uintptr_t step = random.below(8) == 0 ? 2 : 128;
    const uintptr_t by = step * random.below(random.below(3) == 0 ? 1u << 30 : 1u << 8);
    t.data = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(t.data) + by +
                                     (random.below(4) == 0 ? kApart * random.below(4) : 0));
  }
  return fresh;
}

void expect_launches_to_move(const DeviceFacts& facts) {
  int moved = 0;
  for (const auto& [op, args] : workload_calls()) {
    const MovableArgs movable(*op, address(args));
    for (const Family* family : families_for(movable.problem(), facts)) {
      const Config config = family->default_config(movable.problem(), facts);
      const auto bind_to = [&](const void* prepared, Launch& launch) {
        bind(*family, prepared, movable.problem(), config, facts, kTileCounters, launch);
      };
      const auto places = AddressPlaces::find(movable, bind_to);
      ASSERT_TRUE(places) << family->name << " has addresses in its parameters in a way that is not seen through";
      Launch launch{};
      bind_to(movable.prepared(), launch);
      Random random(11);
      for (int round = 0; round < 20; ++round) {
        const ArgsBytes fresh = moved_somewhere(*op, address(args), random);
        if (!movable.moves(fresh.data())) continue;
        ArgsBytes prepared;
        movable.move(fresh.data(), prepared);
        Launch truth{};
        bind_to(prepared.data(), truth);
        places->write(fresh.data(), launch);
        ASSERT_TRUE(same(launch, truth)) << family->name;
        ++moved;
      }
    }
  }
  EXPECT_GT(moved, 500);
}

}  // namespace hstujit::test
