#include "layer/layer.hpp"

#include "layer/stages.hpp"
#include "problem/checks.hpp"
#include "support/error.hpp"

#include <optional>
#include <span>

namespace hstujit::layer {
namespace {

constexpr int kMostSteps = 5;

struct Step {
  const char* name = nullptr;
  const void* args = nullptr;
  const Plan* plan = nullptr;      ///< once it is ready, if a kernel runs
  const Launch* launch = nullptr;  ///< once it is bound
  Problem problem;
};

/// Puts the step's name in front of its errors.
template <class Body>
void named(const char* step, Body&& body) {
  try {
    body();
  } catch (const Error& error) { throw Error(error.status(), fmt::format("{}: {}", step, error.message())); }
}

/// Calls of operators in their order, prepared. Lives on the stack: a call of a layer allocates nothing.
class Sequence {
 public:
  /// `args` is prepared in place and must outlive this; `name` says in messages which part of the layer it is.
  template <class Args>
  void add(const char* name, Args& args) {
    Step& step = steps_[count_++];
    step.name = name;
    step.args = &args;
    named(name, [&] { step.problem = prepare(args); });
  }

  /// A step of another sequence, which is ready.
  void add_ready(const Sequence& other, int step) { steps_[count_++] = other.steps_[step]; }

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

  void add(Fp8LinearCalls& calls) {
    add("quantisation", calls.quantise);
    add("product", calls.product);
  }

  /// Asks for every step before it reports that one is not ready, so that all are prepared at the same time.
  void make_ready(Context& context, CUstream stream) {
    std::optional<Error> not_ready;
    for (int i = 0; i < count_; ++i) {
      if (steps_[i].plan) continue;
      try {
        named(steps_[i].name, [&] { steps_[i].plan = context.make_ready(steps_[i].problem, steps_[i].args, stream); });
      } catch (const Error& error) {
        if (error.status() != HSTU_ERROR_NOT_READY) throw;
        if (!not_ready) not_ready = error;
      }
    }
    if (not_ready) throw Error(*not_ready);
  }
  void run(Context& context, CUstream stream) const {
    for (int i = 0; i < count_; ++i)
      named(steps_[i].name, [&] { context.run(steps_[i].problem, steps_[i].args, stream); });
  }

  std::span<Step> steps() { return {steps_, static_cast<size_t>(count_)}; }

 private:
  Step steps_[kMostSteps];
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

/// A layer's calls, prepared. Of layers behind the first, which is ready by then, that of attention is the first's.
class PreparedLayer {
 public:
  PreparedLayer(hstu_stack_args& args, int64_t index, const PreparedLayer* first)
      : space_(args.workspace, args.workspace_size), calls_(calls_of(args, index, space_)) {
    constexpr int kAttention = 2;
    if (first) {
      sequence_.add(calls_.attention.uvqk);
      sequence_.add_ready(first->sequence_, kAttention);
    } else {
      sequence_.add(calls_.attention);
    }
    sequence_.add(calls_.output);
  }
  PreparedLayer(const PreparedLayer&) = delete;
  PreparedLayer& operator=(const PreparedLayer&) = delete;

  Sequence& sequence() { return sequence_; }

 private:
  Workspace space_;
  LayerCalls calls_;
  Sequence sequence_;  // of calls_
};

/// Launches of a layer's steps, which are ready. Then their arguments are no longer needed.
class BoundLayer {
 public:
  /// Does nothing where a step runs no kernel.
  void bind(const Context& context, std::span<Step> steps) {
    for (const Step& step : steps)
      if (!step.plan || !step.plan->kernel) return;
    for (Step& step : steps) {
      if (!step.launch) {
        named(step.name, [&] { context.bind(*step.plan, step.args, own_[count_]); });
        step.launch = &own_[count_];
      }
      steps_[count_++] = {step.name, step.plan, step.launch};
    }
  }
  bool is_bound() const { return count_ > 0; }
  void launch(const Context& context, CUstream stream) const {
    for (int i = 0; i < count_; ++i)
      named(steps_[i].name, [&] { context.launch(*steps_[i].plan, *steps_[i].launch, stream); });
  }

 private:
  struct Bound {
    const char* name;
    const Plan* plan;
    const Launch* launch;
  };
  Bound steps_[kMostSteps];
  Launch own_[kMostSteps];
  int count_ = 0;
};

/// Puts the layer's index in front of its errors.
template <class Body>
void in_layer(int64_t index, Body&& body) {
  try {
    body();
  } catch (const Error& error) { throw Error(error.status(), fmt::format("layers[{}]: {}", index, error.message())); }
}

}  // namespace

void run(Context& context, hstu_compute_uvqk_args& args, CUstream stream) { run_stage(context, args, stream); }
void run(Context& context, hstu_preprocess_and_attention_args& args, CUstream stream) {
  run_stage(context, args, stream);
}
void run(Context& context, hstu_compute_output_args& args, CUstream stream) { run_stage(context, args, stream); }

void run(Context& context, hstu_fp8_linear_args& args, CUstream stream) { run_stage(context, args, stream); }

void run(Context& context, hstu_stack_args& args, CUstream stream) {
  if (args.num_layers < 1) fail(HSTU_ERROR_INVALID_ARGUMENT, "num_layers = {}: it must be positive", args.num_layers);
  if (!args.layers)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "layers = NULL: it must point to {} parameter sets", args.num_layers);
  // Nothing runs before everything can. The launches of the first layers stay bound in between, 6 KB of stack each, so
  // that the driver is then called without a pause; the layers of deeper stacks than are in use are prepared twice.
  constexpr int64_t kKept = 6;
  BoundLayer bound[kKept];
  std::optional<PreparedLayer> first, other;
  const auto prepare = [&](int64_t i) -> Sequence& {
    return (i == 0 ? first : other).emplace(args, i, i == 0 ? nullptr : &*first).sequence();
  };
  for (int64_t i = 0; i < args.num_layers; ++i) {
    in_layer(i, [&] {
      Sequence& sequence = prepare(i);
      sequence.make_ready(context, stream);
      if (i < kKept && !context.records_traffic()) bound[i].bind(context, sequence.steps());
    });
  }
  for (int64_t i = 0; i < args.num_layers; ++i) {
    in_layer(i, [&] {
      if (i < kKept && bound[i].is_bound())
        bound[i].launch(context, stream);
      else
        (i == 0 ? first->sequence() : prepare(i)).run(context, stream);
    });
  }
}

}  // namespace hstujit::layer
