// One golden case under way: its inputs as tensors, its attributes, buffers for outputs, and the comparison.
#pragma once

#include "chain/chains.hpp"
#include "verify/golden.hpp"

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit::verify {

/// Thrown for a case that the library has no operator for.
struct Skip {
  std::string reason;
};

class GoldenCall {
 public:
  GoldenCall(const Safetensors& file, const Executor& execute, Precision precision)
      : file_(file), execute_(execute), precision_(precision) {}

  // Attributes of the metadata. Throw Error naming the one that is missing or no number.
  int64_t integer(std::string_view key) const;
  float number(std::string_view key) const;
  const std::string& text(std::string_view key) const { return file_.text(key); }
  bool has(std::string_view input) const { return file_.find(input) != nullptr; }

  /// An input; absent (all zero) when the case has none of that name. A scalar becomes a vector of one.
  hstu_tensor input(std::string_view name);
  /// A contiguous output in the case's dtype, or another, filled with NaN.
  hstu_tensor output(std::initializer_list<int64_t> shape) { return output(shape, working_dtype()); }
  hstu_tensor output(std::initializer_list<int64_t> shape, hstu_dtype dtype);

  /// Memory aligned as workspaces are.
  void* workspace_of(size_t bytes) {
    const auto at = reinterpret_cast<uintptr_t>(allocate(static_cast<int64_t>(bytes + kWorkspaceAlignment)));
    return reinterpret_cast<void*>((at + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment);
  }

  /// Makes one call of the args struct's operator; struct_size is filled in.
  template <class Args>
  void run(Args args) {
    args.struct_size = sizeof args;
    execute_(operator_of(op_of<Args>()), &args);
  }

  /// Makes the calls of the args struct's chain, of which none is fused; struct_size and workspace are filled in.
  template <class Args>
  void run_chain(Args args) {
    args.struct_size = sizeof args;
    args.workspace_size = chain::workspace_size(args);
    args.workspace = workspace_of(args.workspace_size);
    chain::visit(args, chain::Fusing(chain::FusedStages{}),
                 [this](int64_t, const chain::Step& step) { run_step(step); });
  }

  /// Compares a tensor, of the expected number of elements, with expect_<name>.
  void compare(std::string_view name, const hstu_tensor& got);
  /// The same of an operator that copies: equal or wrong.
  void compare_copy(std::string_view name, const hstu_tensor& got);
  const std::vector<OutputError>& errors() const { return errors_; }

 private:
  hstu_dtype working_dtype() const;
  std::byte* allocate(int64_t bytes);
  void run_step(const chain::Step& step) const;

  const Safetensors& file_;
  const Executor& execute_;
  Precision precision_;
  std::deque<std::vector<std::byte>> buffers_;
  std::vector<OutputError> errors_;
};

/// Columns [column, column + columns) of a matrix.
hstu_tensor columns_of(const hstu_tensor& matrix, int64_t column, int64_t columns);
/// The same memory as [rows, heads, columns / heads].
hstu_tensor as_heads(const hstu_tensor& matrix, int64_t heads);
hstu_tensor as_matrix(const hstu_tensor& heads);

/// Makes the calls of the case's operator and compares its outputs. Throws Skip or Error.
void run_case(const Safetensors& file, GoldenCall& call);

}  // namespace hstujit::verify
