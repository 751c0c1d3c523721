// A small call of every operator, spelled as workload files spell them, with the integer tensors that it can have: for
// tests that walk the table of operators.
#pragma once

#include "operators/movable_args.hpp"
#include "workload/memory.hpp"
#include "workload/stack.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hstujit::test {

/// The calls without memory: every operator once at least, in no particular order.
std::vector<Calls> small_calls();

/// One of them in host memory of its own, every tensor in an allocation of exactly its size.
class SmallCall {
 public:
  explicit SmallCall(const Calls& calls);

  const Operator& op() const { return operator_of(stack_.call(0).op); }
  const std::string& name() const { return stack_.call(0).name; }
  /// The args struct as the C API takes it; tensors that are there point into this object's memory.
  ArgsBytes args() const;

  /// Element `index` of an integer tensor of the call, and what it holds.
  void set(const TensorSlot& slot, int64_t index, int64_t value);
  int64_t get(const TensorSlot& slot, int64_t index) const;
  int64_t count(const TensorSlot& slot) const;  ///< of its elements; 0 when it is absent

  /// All bytes of the outputs.
  std::vector<std::byte> outputs() const;

 private:
  const hstu_tensor& tensor(const TensorSlot& slot) const;

  std::unique_ptr<Memory> memory_;
  Stack stack_;
};

}  // namespace hstujit::test
