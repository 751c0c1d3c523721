// One call on buffers of the tuner's own, in two shapes: as the caller has it, and the edge case of edge_case.hpp.
#pragma once

#include "operators/operators.hpp"
#include "tuner/device_buffer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace hstujit {

/// A result copied to the host, to compare with: per output tensor that is there, in the order of the slots.
using Outputs = std::vector<HostBuffer>;

class CallBuffers {
 public:
  enum Shape { kAsCalled, kEdge };
  static constexpr Shape kShapes[] = {kAsCalled, kEdge};

  /// Floating-point inputs are filled with seeded random numbers, integers copied from the caller's device memory. The
  /// device's context must be current. Throws Error, OUT_OF_MEMORY among others.
  CallBuffers(const Driver& driver, const Operator& op, const void* args, CUstream stream, uint64_t seed);

  const Operator& op() const { return op_; }
  /// The operator's args struct on these buffers.
  const void* args(Shape shape) const { return cases_[shape].args.data(); }

  /// Queued on the stream, before each run whose results are read: outputs hold NaN, those that the call adds to what
  /// they held first, and the workspace anything.
  void poison() const;
  /// The same of outputs that the call adds to alone, before each run that is timed: sums do not grow without end.
  void restore() const;
  /// Copies the outputs as they are once the stream has run; buffers of an earlier result are used again.
  void read_outputs(Outputs& into) const;
  /// "" when two results of a shape agree, else what differs.
  std::string difference(Shape shape, const Outputs& expected, const Outputs& actual) const;
  /// Whether each output has a number in it.
  bool has_results(Shape shape, const Outputs& outputs) const;

  /// Cost of a shape, see Operator::cost.
  Cost cost(Shape shape) const;
  /// What the reference makes of the same inputs.
  Outputs reference(Shape shape) const;

 private:
  struct Case {
    std::vector<std::byte> args;
    Integers integers;                         ///< per slot
    std::vector<std::vector<std::byte>> host;  ///< per slot: the integers as the host reads them
    std::vector<DeviceBuffer> device;          ///< per slot: the integers on the device
  };

  void make_float_buffers(const void* args, uint64_t seed);
  void read_integers(Case& shape, const void* args);
  void place(Case& shape);
  void fill(const TensorSlot& slot, const hstu_tensor& t, const DeviceBuffer& buffer, uint64_t seed) const;
  /// An output that is there; some are optional.
  bool is_output(size_t slot) const;
  /// An output that is there and that the call adds to.
  bool is_accumulated(size_t slot) const;
  hstu_tensor& tensor(Case& shape, size_t slot) const { return tensor_at(shape.args.data(), op_.tensors[slot]); }
  const hstu_tensor& tensor(const Case& shape, size_t slot) const {
    return tensor_at(shape.args.data(), op_.tensors[slot]);
  }
  std::vector<std::byte> host_args(Shape shape) const;
  int64_t terms_of(Shape shape, size_t slot) const;

  const Driver& driver_;
  const Operator& op_;
  CUstream stream_;
  std::vector<DeviceBuffer> buffers_;  ///< per slot; none for integers and absent tensors
  std::vector<DeviceBuffer> before_;   ///< per slot: what outputs hold that the call adds to; none for others
  DeviceBuffer workspace_;
  Case cases_[2];
};

}  // namespace hstujit
