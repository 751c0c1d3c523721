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

  /// A step of another sequence, which is ready.
  void add_ready(const Sequence& other, int step) { steps_[count_++] = other.steps_[step]; }
  /// Binds a step that is ready, for all sequences that it is added to from now on; `launch` must outlive them.
  void bind(const Context& context, int step, Launch& launch) {
    Step& s = steps_[step];
    if (!s.plan || !s.plan->kernel) return;
    named(s, [&] { context.bind(*s.plan, s.args, launch); });
    s.bound = &launch;
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
  void make_ready(Context& context, CUstream stream) {
    std::optional<Error> not_ready;
    for (int i = 0; i < count_; ++i) {
      if (steps_[i].plan) continue;
      try {
        named(steps_[i], [&] { steps_[i].plan = context.make_ready(steps_[i].problem, steps_[i].args, stream); });
      } catch (const Error& error) {
        if (error.status() != HSTU_ERROR_NOT_READY) throw;
        if (!not_ready) not_ready = error;
      }
    }
    if (not_ready) throw Error(*not_ready);
  }
  /// After make_ready(): nothing is looked up again, but where no kernel runs, or traffic is counted.
  void run(Context& context, CUstream stream) const {
    const bool counts = context.records_traffic();
    for (int i = 0; i < count_; ++i) {
      const Step& step = steps_[i];
      named(step, [&] {
        if (step.bound && !counts)
          context.launch(*step.plan, *step.bound, stream);
        else if (step.plan && !counts)
          context.launch(*step.plan, step.args, stream);
        else
          context.run(step.problem, step.args, stream);
      });
    }
  }

 private:
  static constexpr int kMost = 5;
  struct Step {
    const char* name = nullptr;
    const void* args = nullptr;
    const Plan* plan = nullptr;
    const Launch* bound = nullptr;
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

/// A layer's calls, prepared. Of layers behind the first, which is ready by then, that of attention is the first's.
class PreparedLayer {
 public:
  PreparedLayer(hstu_stack_args& args, int64_t index, const PreparedLayer* first)
      : space_(args.workspace, args.workspace_size), calls_(calls_of(args, index, space_)) {
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

  void make_ready(Context& context, CUstream stream) { sequence_.make_ready(context, stream); }
  /// Of the first layer.
  void bind_attention(const Context& context, Launch& launch) { sequence_.bind(context, kAttention, launch); }
  void run(Context& context, CUstream stream) const { sequence_.run(context, stream); }

 private:
  static constexpr int kAttention = 2;  // step of the sequence

  Workspace space_;
  LayerCalls calls_;
  Sequence sequence_;  // of calls_
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

void run(Context& context, hstu_stack_args& args, CUstream stream) {
  if (args.num_layers < 1) fail(HSTU_ERROR_INVALID_ARGUMENT, "num_layers = {}: it must be positive", args.num_layers);
  if (!args.layers)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "layers = NULL: it must point to {} parameter sets", args.num_layers);
  // Nothing runs before everything can. The first layers stay prepared in between, 3.7 KB of stack each; the others,
  // of deeper stacks than are in use, are prepared twice.
  constexpr int64_t kKept = 8;
  std::optional<PreparedLayer> kept[kKept];
  Launch attention;  // the same of all layers
  const auto first = [&](int64_t i) { return i > 0 ? &*kept[0] : nullptr; };
  for (int64_t i = 0; i < args.num_layers; ++i) {
    in_layer(i, [&] {
      std::optional<PreparedLayer> passing;
      (i < kKept ? kept[i] : passing).emplace(args, i, first(i)).make_ready(context, stream);
      if (i == 0) kept[0]->bind_attention(context, attention);
    });
  }
  for (int64_t i = 0; i < args.num_layers; ++i) {
    in_layer(i, [&] {
      if (i < kKept) return kept[i]->run(context, stream);
      PreparedLayer again(args, i, first(i));
      again.make_ready(context, stream);
      again.run(context, stream);
    });
  }
}

}  // namespace hstujit::layer
