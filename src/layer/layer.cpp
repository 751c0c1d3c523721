#include "layer/layer.hpp"

#include "layer/stages.hpp"
#include "problem/checks.hpp"
#include "support/error.hpp"

#include <optional>

namespace hstujit::layer {
namespace {

/// Calls of operators in their order, prepared. Lives on the stack: a call of a layer allocates nothing.
class Sequence {
 public:
  /// `args` is prepared in place and must outlive this; `name` says in messages which part of the layer it is.
  template <class Args>
  void add(const char* name, Args& args) {
    Step& step = steps_[count_++];
    step.name = name;
    step.args = &args;
    named(step, [&] { step.problem = prepare(args); });
  }

  void add(UvqkCalls& calls) {
    add("layer norm", calls.norm);
    add("UVQK projection", calls.project);
  }
  void add(AttentionCalls& calls) {
    add(calls.uvqk);
    add("attention", calls.attention);
  }
  void add(OutputCalls& calls) {
    add("norm * u", calls.gate);
    add("output projection", calls.project);
  }

  /// Asks for every step before it reports that one is not ready, so that all are prepared at the same time.
  void make_ready(Context& context, CUstream stream) const {
    std::optional<Error> not_ready;
    for (int i = 0; i < count_; ++i) {
      try {
        named(steps_[i], [&] { context.make_ready(steps_[i].problem, steps_[i].args, stream); });
      } catch (const Error& error) {
        if (error.status() != HSTU_ERROR_NOT_READY) throw;
        if (!not_ready) not_ready = error;
      }
    }
    if (not_ready) throw Error(*not_ready);
  }
  void run(Context& context, CUstream stream) const {
    for (int i = 0; i < count_; ++i) named(steps_[i], [&] { context.run(steps_[i].problem, steps_[i].args, stream); });
  }

 private:
  static constexpr int kMost = 5;
  struct Step {
    const char* name = nullptr;
    const void* args = nullptr;
    Problem problem;
  };

  /// Puts the step's name in front of its errors.
  template <class Body>
  static void named(const Step& step, Body&& body) {
    try {
      body();
    } catch (const Error& error) { throw Error(error.status(), fmt::format("{}: {}", step.name, error.message())); }
  }

  Step steps_[kMost];
  int count_ = 0;
};

template <class Args>
void run_stage(Context& context, Args& args, CUstream stream) {
  Workspace space(args.workspace, args.workspace_size);
  auto calls = calls_of(args, space);
  Sequence sequence;
  sequence.add(calls);
  sequence.make_ready(context, stream);
  sequence.run(context, stream);
}

}  // namespace

void run(Context& context, hstu_compute_uvqk_args& args, CUstream stream) { run_stage(context, args, stream); }
void run(Context& context, hstu_preprocess_and_attention_args& args, CUstream stream) {
  run_stage(context, args, stream);
}
void run(Context& context, hstu_compute_output_args& args, CUstream stream) { run_stage(context, args, stream); }

void run(Context& context, hstu_stack_args& args, CUstream stream) {
  if (args.num_layers < 1) fail(HSTU_ERROR_INVALID_ARGUMENT, "num_layers = {}: it must be positive", args.num_layers);
  if (!args.layers)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "layers = NULL: it must point to {} parameter sets", args.num_layers);
  const auto each = [&](auto&& action) {
    for (int64_t i = 0; i < args.num_layers; ++i) {
      try {
        Workspace space(args.workspace, args.workspace_size);
        LayerCalls calls = calls_of(args, i, space);
        Sequence sequence;
        sequence.add(calls.attention);
        sequence.add(calls.output);
        action(sequence);
      } catch (const Error& error) { throw Error(error.status(), fmt::format("layers[{}]: {}", i, error.message())); }
    }
  };
  each([&](const Sequence& sequence) { sequence.make_ready(context, stream); });
  each([&](const Sequence& sequence) { sequence.run(context, stream); });
}

}  // namespace hstujit::layer
