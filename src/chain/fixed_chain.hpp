// A call of a chain whose problems are decided: what stands behind an hstu_plan of a chain.
#pragma once

#include "chain/chains.hpp"

#include <array>
#include <vector>

namespace hstujit::chain {

class FixedChain {
 public:
  /// Makes the plans of all steps if need be, as the context's miss policy says. args: as the caller wrote them, in
  /// today's layout, here and below; they and what they point to on the host are copied.
  FixedChain(Context& context, const Chain& chain, const void* args, CUstream stream);

  /// context: the construction's. args: null for those of the construction. Any number of threads at once.
  void launch(Context& context, const void* args, CUstream stream) const;

 private:
  void refuse_others(const Context& context, const void* args) const;

  const Chain& chain_;
  std::vector<std::byte> args_;  ///< pointing to arrays_
  std::array<std::vector<std::byte>, std::tuple_size_v<HostArrays>> arrays_;
  std::vector<std::pair<const char*, Problem>> problems_;  ///< of the steps, with their names
};

}  // namespace hstujit::chain
