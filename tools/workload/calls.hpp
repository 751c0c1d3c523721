// Operator calls as data: args structs with shapes, strides and types, and the buffers they lie in, before any memory
// exists. Tuner, warming and benchmarks ask them for keys and costs; a Stack gives them memory and runs them.
#pragma once

#include "chain/fused.hpp"
#include "cuda/device.hpp"
#include "operators/operators.hpp"
#include "tuner/values.hpp"
#include "workload/workload.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace hstujit {

/// The args struct of one operator, or none.
#define HSTUJIT_ALTERNATIVE(op, args_type, function) , args_type
using AnyArgs = std::variant<std::monostate HSTUJIT_OPERATOR_MAP(HSTUJIT_ALTERNATIVE)>;
#undef HSTUJIT_ALTERNATIVE
void* address(AnyArgs& args);
const void* address(const AnyArgs& args);

/// One allocation, and what it holds before the first call.
struct Buffer {
  enum class Content {
    random,    ///< bell-shaped around `mean`
    integers,  ///< `list`
    nothing,   ///< some call's output
  };
  std::string name;
  hstu_dtype dtype = HSTU_DTYPE_NONE;
  int64_t elements = 0;
  Content content = Content::nothing;
  float mean = 0, deviation = 1;
  std::vector<int64_t> list;

  int64_t bytes() const { return elements * size_of(dtype); }
  RandomElements random() const { return {dtype, mean, deviation}; }
};

/// Where a tensor's data begin; buffer -1: the tensor is absent.
struct Place {
  int buffer = -1;
  int64_t offset = 0;  ///< elements
};

struct Call {
  Op op{};
  std::string name;  ///< its part in the layer, or the entry's name
  double count = 1;  ///< how often the traffic makes this call
  std::optional<FigureSpec> figure;
  std::vector<FigureSpec> family_figures;
  AnyArgs args;               ///< data pointers null
  std::vector<Place> places;  ///< in the order of operator_of(op).tensors
  Place workspace;            ///< where the operator needs one
};

/// Calls that share buffers, in the order in which they run.
struct Calls {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Call> setup;  ///< made once, before the others: weights to FP8. Nobody's needs, and not measured
  std::vector<Call> calls;
  int result = -1;           ///< the buffer that holds the outcome of them all
  chain::FusedStages fused;  ///< of a stack: see made_on()

  int find(std::string_view buffer_name) const;  ///< index, -1 when there is none
};

/// The workload's stack, if any, and again with each stage fused that can be, then each of its operators alone.
/// Throws Error naming the entry whose shapes do not make a legal call.
std::vector<Calls> expand(const Workload& workload);
/// The steps of hstu_stack's layers, each of which reads one buffer and writes another, so that a run can be repeated.
/// The workload must have a stack. fused: of its stages those that can be.
Calls expand_stack(const Workload& workload, chain::FusedStages fused = {});
/// The stages of the workload's layers that can be fused, on some device.
chain::FusedStages can_be_fused(const Workload& workload);
/// The buffer of a stack that layer `index` reads and layer index - 1 has written; layers take turns with two.
const char* layer_input(int64_t index);

/// Whether hstu_stack fuses on the device what is fused here. Other calls are made everywhere,
/// but those of figures only where the device has their operator.
bool made_on(const DeviceFacts& device, const Calls& calls);
/// The workload's stack as hstu_stack makes it on the device.
Calls stack_on(const DeviceFacts& device, const Workload& workload);

/// Addresses as an allocator would give them, one per buffer; nothing lies there.
std::vector<void*> made_up_addresses(const std::vector<Buffer>& buffers);

/// The call's args with pointers into memory: bases[i] is where buffers[i] begins.
AnyArgs placed_args(const Call& call, const Calls& calls, std::span<void* const> bases);

/// The args as prepare() leaves them, before there is memory: `integers` says where a buffer of integers lies, all
/// other tensors get made-up addresses, aligned to 256, at which nothing may be read.
AnyArgs prepared(const Call& call, const Calls& calls, const std::function<void*(const Buffer&)>& integers);

/// Key of a call on buffers aligned to 256 bytes.
Problem problem_of(const Call& call, const Calls& calls);
Cost cost_of(const Call& call, const Calls& calls);

/// One problem of a workload and the first of its calls.
struct Need {
  Problem problem;
  const Calls* calls;
  const Call* call;
  double count;  ///< over all calls of this problem
  Cost cost;     ///< of that call
};

/// The different problems in order of appearance; `all` must outlive them.
std::vector<Need> needs(const std::vector<Calls>& all);
/// Of them those of calls that are made on the device.
std::vector<Need> needs_on(const DeviceFacts& device, const std::vector<Need>& all);

}  // namespace hstujit
