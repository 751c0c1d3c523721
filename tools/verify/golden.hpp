// Golden cases: inputs with the results that upstream's own reference gives for them, run through any device.
#pragma once

#include "operators/operators.hpp"
#include "verify/safetensors.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace hstujit::verify {

/// Runs one operator. args is its args struct as a caller fills it (not prepared), with all tensors in host memory;
/// outputs hold NaN before the call and results after it. Throws Error.
using Executor = std::function<void(const Operator& op, void* args)>;

/// Runs the double-precision reference.
Executor reference_executor();

enum class Precision {
  as_stored,  ///< the case's own element types, tolerance by type
  f32,        ///< floating-point inputs widened to f32, f32 outputs: the tight check, for devices that take f32
};

enum class Outcome { passed, failed, skipped };

/// ||got - expected|| / ||expected|| of one output; where all of expected is zero, ||got||.
struct OutputError {
  std::string name;
  double error = 0, tolerance = 0;
  /// Of the element that is wrong by most of the largest magnitude of its row (the first dimension's), which one wrong
  /// element of many is; where the row is zero, of one.
  double element_error = 0, element_tolerance = 0;
  size_t element = 0;  ///< its place in row-major order
  double got = 0, expected = 0;
};

struct CaseResult {
  std::string op, name;
  Outcome outcome = Outcome::failed;
  std::string reason;  ///< why it failed or was skipped; empty when passed
  std::vector<OutputError> outputs;
};

/// Cases of operators that the library lacks are skipped; everything else that prevents a comparison is a failure.
/// Expected gradients are not looked at.
CaseResult run_golden(const Safetensors& file, const Executor& execute, Precision precision);

/// All *.safetensors below the folder, in order of their paths. Throws Error when there are none.
std::vector<CaseResult> run_goldens(const std::filesystem::path& folder, const Executor& execute, Precision precision);

}  // namespace hstujit::verify
