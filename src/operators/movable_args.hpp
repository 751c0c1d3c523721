// Prepared arguments of a call, kept so that the same call on other buffers need not be prepared again: what prepare()
// would say follows from what it said once, as long as only addresses change, and those in harmless ways.
#pragma once

#include "operators/operators.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace hstujit {

#define HSTUJIT_SIZE(op, args_type, function) sizeof(args_type),
inline constexpr size_t kMostArgsBytes = std::max({HSTUJIT_OPERATOR_MAP(HSTUJIT_SIZE) size_t{0}});
#undef HSTUJIT_SIZE

/// Room for the args struct of any operator.
struct ArgsBytes {
  alignas(16) std::array<std::byte, kMostArgsBytes> bytes;
  std::byte* data() { return bytes.data(); }
  const std::byte* data() const { return bytes.data(); }
};

/// No memory of the heap's belongs to it.
class MovableArgs {
 public:
  static constexpr size_t kMostTensors = 32;  ///< of an operator, its workspace counted

  /// args: as the caller wrote them, in today's layout here and below. Throws what the operator's prepare() throws.
  MovableArgs(const Operator& op, const void* args);

  const Operator& op() const { return *op_; }
  const Problem& problem() const { return problem_; }
  const void* prepared() const { return prepared_.data(); }

  /// Whether these are the very arguments of the construction, addresses among them.
  bool same(const void* args) const;

  /// Whether prepare() would make of args what it made of the construction's, but for the addresses. False when more
  /// than addresses differs, or when addresses might change the outcome: another alignment, a buffer that comes or
  /// goes, or an output that meets another tensor where it did not before. same() comes first.
  bool moves(const void* args) const;
  /// Writes to `out` what prepare() makes of such args.
  void move(const void* args, ArgsBytes& out) const;

  /// Those that are there, and the workspace.
  size_t tensors() const { return present_; }
  /// Where the struct has the address of one.
  size_t address_offset(size_t tensor) const { return buffers_[tensor].offset; }

 private:
  /// Where a tensor's address stands in the struct, and how far the tensor reaches from it.
  struct Buffer {
    size_t offset;
    uint64_t bytes;
    bool output;
  };
  /// Bytes of the struct without an address in them.
  struct Stretch {
    size_t offset, size;
  };

  bool meets_another(const Buffer& output, const void* args) const;

  std::span<const Buffer> buffers() const { return {buffers_.data(), present_}; }
  std::span<const Stretch> between() const { return {between_.data(), present_ + 1}; }

  const Operator* op_;
  ArgsBytes given_, prepared_;
  Problem problem_;
  size_t present_ = 0;  ///< tensors
  std::array<Buffer, kMostTensors> buffers_;
  std::array<Stretch, kMostTensors + 1> between_;
};

}  // namespace hstujit
