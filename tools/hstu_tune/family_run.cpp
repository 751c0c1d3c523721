#include "hstu_tune/family_run.hpp"

#include "specialise/source.hpp"
#include "support/error.hpp"

namespace hstujit::tool {
namespace {

const Family& family_for(std::string_view name, const Problem& problem, const DeviceFacts& device) {
  const Family* family = family_named(name);
  if (!family) fail(HSTU_ERROR_INVALID_ARGUMENT, "family: there is none named \"{}\"; hstu-tune ops lists them", name);
  if (family->op != problem.op || !family->covers(problem, device))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "family: {} does not cover {}", name, text(problem));
  return *family;
}

}  // namespace

FamilyRun::FamilyRun(Context& context, std::string_view family, const Problem& problem, const void* args)
    : context_(context),
      family_(family_for(family, problem, context.facts())),
      problem_(problem),
      args_(args),
      config_(family_.default_config(problem, context.facts())) {
  const CurrentContext current(context.driver(), context.device_context());
  kernel_ = std::make_unique<LoadedKernel>(
      context.driver(), *context.jit().obtain(specialise(family_, problem_, config_, context.facts())),
      family_.resources(problem_, config_).smem_bytes);
}

void FamilyRun::launch(CUstream stream) const {
  const CurrentContext current(context_.driver(), context_.device_context());
  Launch launch;
  bind(family_, args_, problem_, config_, context_.facts(), launch);
  if (launch.grid[0] > 0) context_.driver().check(kernel_->launch(launch, stream), "launching a family's kernel");
}

std::string FamilyRun::configuration() const { return text({&family_, config_, Choice::From::standard, 0}); }

}  // namespace hstujit::tool
