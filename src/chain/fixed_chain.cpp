#include "chain/fixed_chain.hpp"

#include "call/fixed_call.hpp"
#include "support/error.hpp"

#include <cstring>

namespace hstujit::chain {
namespace {

/// Of the chain's struct: every args struct begins with it.
void check_struct_size(const Chain& chain, const void* args) {
  size_t given;
  std::memcpy(&given, args, sizeof given);
  if (given != chain.args_size)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "args.struct_size = {}: this library expects sizeof = {}", given,
         chain.args_size);
}

}  // namespace

FixedChain::FixedChain(Context& context, const Chain& chain, const void* args, CUstream stream) : chain_(chain) {
  check_struct_size(chain, args);
  args_ = copy_of(args);
  problems_ = problems_of(context, args_.data());  // and checks, before anything is read that the arguments point to
  HostArrays copies = chain_.arrays_of(args_.data());
  for (size_t i = 0; i < copies.size(); ++i) {
    const auto* const data = static_cast<const std::byte*>(copies[i].data);
    arrays_[i].assign(data, data + copies[i].bytes);
    copies[i].data = arrays_[i].data();
  }
  chain_.point_to(args_.data(), copies);
  std::vector<std::byte> own = copy_of(args_.data());
  chain_.make_ready(context, own.data(), stream);
}

/// Steps fill in defaults in place: none does so in arguments that are kept or a caller's.
std::vector<std::byte> FixedChain::copy_of(const void* args) const {
  const auto* const bytes = static_cast<const std::byte*>(args);
  return {bytes, bytes + chain_.args_size};
}

std::vector<std::pair<const char*, Problem>> FixedChain::problems_of(const Context& context, const void* args) const {
  std::vector<std::byte> own = copy_of(args);
  std::vector<std::pair<const char*, Problem>> problems;
  chain_.visit(own.data(), Fusing(context.facts()),
               [&](int64_t, const Step& step) { problems.emplace_back(step.name, step.problem); });
  return problems;
}

void FixedChain::refuse_others(const Context& context, const void* args) const {
  const auto asked = problems_of(context, args);
  if (asked.size() != problems_.size())
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "args: {} has {} steps where the plan has {}; get a plan for these arguments, too", chain_.name, asked.size(),
         problems_.size());
  for (size_t i = 0; i < asked.size(); ++i)
    if (!(asked[i].second == problems_[i].second))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "args: {}: {}; get a plan for these arguments, too", asked[i].first,
           difference(asked[i].second, problems_[i].second));
}

void FixedChain::launch(Context& context, const void* args, CUstream stream) const {
  if (args) {
    check_struct_size(chain_, args);
    refuse_others(context, args);
  }
  std::vector<std::byte> own = copy_of(args ? args : args_.data());
  chain_.run(context, own.data(), stream);
}

}  // namespace hstujit::chain
