#include "chain/fixed_chain.hpp"

#include "call/fixed_call.hpp"
#include "support/error.hpp"

#include <cstring>
#include <functional>
#include <optional>

namespace hstujit::chain {

FixedChain::FixedChain(Context& context, const Chain& chain, const void* args, CUstream stream) : chain_(chain) {
  // Checks before anything is read that the arguments point to.
  chain_.visit(args, Fusing(context.facts()),
               [&](int64_t, const Step& step) { problems_.emplace_back(step.name, step.problem); });
  const auto* const bytes = static_cast<const std::byte*>(args);
  args_.assign(bytes, bytes + chain_.args_size);
  HostArrays copies = chain_.arrays_of(args_.data());
  for (size_t i = 0; i < copies.size(); ++i) {
    const auto* const data = static_cast<const std::byte*>(copies[i].data);
    arrays_[i].assign(data, data + copies[i].bytes);
    copies[i].data = arrays_[i].data();
  }
  chain_.point_to(args_.data(), copies);
  chain_.make_ready(context, args_.data(), stream);
}

void FixedChain::refuse_others(const Context& context, const void* args) const {
  size_t count = 0;
  std::optional<size_t> which;
  Problem other;
  const auto compare = [&](int64_t, const Step& step) {
    if (!which && count < problems_.size() && !(step.problem == problems_[count].second)) {
      which = count;
      other = step.problem;
    }
    ++count;
  };
  chain_.visit(args, Fusing(context.facts()), std::ref(compare));  // a reference needs no memory
  if (count != problems_.size())
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "args: {} has {} steps where the plan has {}; get a plan for these arguments, too", chain_.name, count,
         problems_.size());
  if (which)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "args: {}: {}; get a plan for these arguments, too", problems_[*which].first,
         difference(other, problems_[*which].second));
}

void FixedChain::launch(Context& context, const void* args, CUstream stream) const {
  if (args) refuse_others(context, args);
  chain_.run(context, args ? args : args_.data(), stream);
}

}  // namespace hstujit::chain
