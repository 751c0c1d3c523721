#include "chain/chains.hpp"

#include <algorithm>

namespace hstujit::chain {
namespace {

template <class Args>
Chain entry(std::string_view name) {
  Chain entry{};
  entry.name = name;
  entry.args_size = sizeof(Args);
  entry.thread_bytes = thread_bytes(static_cast<const Args*>(nullptr));
  entry.workspace_size = [](const void* args) { return workspace_size(*static_cast<const Args*>(args)); };
  entry.run = [](Context& context, const void* args, CUstream stream) {
    Args own = *static_cast<const Args*>(args);
    run(context, own, stream);
  };
  entry.make_ready = [](Context& context, const void* args, CUstream stream) {
    Args own = *static_cast<const Args*>(args);
    make_ready(context, own, stream);
  };
  entry.check_takes = [](const Context& context, const void* args) {
    Args own = *static_cast<const Args*>(args);
    check_takes(context, own);
  };
  entry.visit = [](const void* args, const Fusing& fusing, const StepVisitor& visitor) {
    Args own = *static_cast<const Args*>(args);
    visit(own, fusing, visitor);
  };
  entry.arrays_of = [](const void* args) { return arrays_of(*static_cast<const Args*>(args)); };
  entry.point_to = [](void* args, const HostArrays& arrays) { point_to(*static_cast<Args*>(args), arrays); };
  return entry;
}

}  // namespace

std::span<const Chain> chains() {
#define HSTUJIT_ENTRY(name, args_type, function) entry<args_type>(#name),
  static const Chain all[] = {HSTUJIT_CHAIN_MAP(HSTUJIT_ENTRY)};
#undef HSTUJIT_ENTRY
  return all;
}

const Chain* chain_named(std::string_view name) {
  const auto all = chains();
  const auto found = std::ranges::find(all, name, &Chain::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace hstujit::chain
