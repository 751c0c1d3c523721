// The chains as data: several operators behind one entry point, with a workspace between them. Everything that handles
// "any chain" (plans, the tool, tests) goes through this table, and asks a chain for its steps.
#pragma once

#include "call/context.hpp"
#include "chain/chain_map.hpp"
#include "chain/fused.hpp"
#include "chain/steps.hpp"
#include "chain/workspace.hpp"

#include <hstujit/hstujit.h>

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace hstujit::chain {

/// What one thread keeps of bound calls, of all chains together.
inline constexpr size_t kMostThreadBytes = size_t{512} << 10;

/// What arguments point to on the host: parameters of layers.
struct HostArray {
  const void* data = nullptr;
  size_t bytes = 0;
};
using HostArrays = std::array<HostArray, 2>;

/// part: of a chain of parts, which; else 0. The step lives during the visit.
using StepVisitor = std::function<void(int64_t part, const Step& step)>;

struct Chain {
  std::string_view name;
  size_t args_size;
  size_t thread_bytes;  ///< what a thread keeps of a bound call

  /// Of the workspace; throws Error where the arguments that it depends on make no sense.
  size_t (*workspace_size)(const void* args);
  // Steps fill in defaults, in a copy on the stack: arguments stay as they are.
  void (*run)(Context& context, const void* args, CUstream stream);
  /// Makes sure that run() will find the kernels of all steps loaded.
  void (*make_ready)(Context& context, const void* args, CUstream stream);
  /// Throws what run() would for want of a kernel that the device can have; prepares and runs nothing.
  void (*check_takes)(const Context& context, const void* args);
  /// The steps, prepared, in their order. Addresses may be made up: nothing is read there.
  void (*visit)(const void* args, const Fusing& fusing, const StepVisitor& visitor);
  HostArrays (*arrays_of)(const void* args);
  /// Lets the arguments point to copies of these arrays.
  void (*point_to)(void* args, const HostArrays& arrays);
};

std::span<const Chain> chains();
/// Null: there is none of that name.
const Chain* chain_named(std::string_view name);

// ---- The typed forms behind the table, per chain. measure() is what a chain takes of a workspace.

#define HSTUJIT_DECLARE_CHAIN(name, args_type, function)                         \
  void measure(const args_type& args, Workspace& space);                         \
  void run(Context& context, args_type& args, CUstream stream);                  \
  void make_ready(Context& context, args_type& args, CUstream stream);           \
  void check_takes(const Context& context, args_type& args);                     \
  void visit(args_type& args, const Fusing& fusing, const StepVisitor& visitor); \
  HostArrays arrays_of(const args_type& args);                                   \
  void point_to(args_type& args, const HostArrays& arrays);                      \
  size_t thread_bytes(const args_type*);
HSTUJIT_CHAIN_MAP(HSTUJIT_DECLARE_CHAIN)
#undef HSTUJIT_DECLARE_CHAIN

template <class Args>
size_t workspace_size(const Args& args) {
  Workspace space;
  measure(args, space);
  return space.used();
}

}  // namespace hstujit::chain
