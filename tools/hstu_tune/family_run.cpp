#include "hstu_tune/family_run.hpp"

#include "specialise/source.hpp"
#include "support/error.hpp"

namespace hstujit::tool {
namespace {

const Family& family_for(std::string_view name, const Problem& problem, const DeviceFacts& device) {
  const Family* family = family_named(name);
  if (!family) fail(HSTU_ERROR_INVALID_ARGUMENT, "family: there is none named \"{}\"; hstu-tune ops lists them", name);
  if (!covers(*family, problem, device))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "family: {} does not cover {}", name, text(problem));
  return *family;
}

}  // namespace

FamilyRun::FamilyRun(Context& context, std::string_view name, const Problem& problem, const void* args)
    : context_(context), args_(args) {
  const Family& family = family_for(name, problem, context.facts());
  const Config config = family.default_config(problem, context.facts());
  plan_.problem = problem;
  plan_.choice = {&family, config, Choice::From::standard, 0};
  plan_.compiled = context.jit().obtain(specialise(family, problem, config, context.facts()));
  const CurrentContext current(context.driver(), context.device_context());
  plan_.kernel = std::make_shared<const LoadedKernel>(context.driver(), *plan_.compiled,
                                                      family.resources(problem, config).smem_bytes);
}

void FamilyRun::launch(CUstream stream) const { context_.launch(plan_, args_, stream); }

std::string FamilyRun::configuration() const { return text(plan_.choice); }

}  // namespace hstujit::tool
