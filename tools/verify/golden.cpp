#include "verify/golden.hpp"

#include "support/error.hpp"
#include "verify/golden_call.hpp"

#include <algorithm>

namespace hstujit::verify {
namespace {

/// "out: error 3e-2 exceeds 1e-2"; empty when all outputs are within their tolerance. NaN is not.
std::string excess(const std::vector<OutputError>& outputs) {
  for (const OutputError& output : outputs)
    if (!(output.error <= output.tolerance))
      return fmt::format("{}: relative error {:.3g} exceeds {:.3g}", output.name, output.error, output.tolerance);
  for (const OutputError& output : outputs)
    if (!(output.element_error <= output.element_tolerance))
      return fmt::format("{}: element {} is {:.6g} instead of {:.6g}, wrong by {:.3g} of its row, which exceeds {:.3g}",
                         output.name, output.element, output.got, output.expected, output.element_error,
                         output.element_tolerance);
  return {};
}

}  // namespace

Executor reference_executor() {
  return [](const Operator& op, void* args) {
    op.prepare(args);
    op.reference(args, nullptr);
  };
}

CaseResult run_golden(const Safetensors& file, const Executor& execute, Precision precision) {
  CaseResult result{file.text("op"), file.text("case"), Outcome::failed, {}, {}};
  GoldenCall call(file, execute, precision);
  try {
    run_case(file, call);
    result.outputs = call.errors();
    result.reason = result.outputs.empty() ? "nothing was compared" : excess(result.outputs);
    if (result.reason.empty()) result.outcome = Outcome::passed;
  } catch (const Skip& skip) {
    result.outcome = Outcome::skipped;
    result.reason = skip.reason;
  } catch (const Error& error) {
    result.reason = fmt::format("{}: {}", hstu_status_name(error.status()), error.message());
  }
  return result;
}

std::vector<CaseResult> run_goldens(const std::filesystem::path& folder, const Executor& execute, Precision precision) {
  std::vector<std::filesystem::path> paths;
  std::error_code failure;
  for (std::filesystem::recursive_directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure))
    if (it->path().extension() == ".safetensors") paths.push_back(it->path());
  if (failure) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {}", folder.string(), failure.message());
  if (paths.empty()) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: it has no *.safetensors files", folder.string());
  std::sort(paths.begin(), paths.end());
  std::vector<CaseResult> results;
  for (const auto& path : paths) results.push_back(run_golden(Safetensors::read(path), execute, precision));
  return results;
}

}  // namespace hstujit::verify
