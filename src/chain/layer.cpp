#include "chain/layer.hpp"

#include "chain/one_product.hpp"
#include "chain/stages.hpp"
#include "operators/attention/hstu_attention.hpp"
#include "operators/checks.hpp"
#include "support/error.hpp"
#include "support/thread_end.hpp"

#include <cstring>
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
  explicit Sequence(const DeviceFacts& device) : device_(device) {}

  /// `args` is prepared in place and must outlive this; `name` says in messages which part of the layer it is.
  template <class Args>
  void add(const char* name, Args& args) {
    Step& step = steps_[count_++];
    step.name = name;
    step.args = &args;
    named(name, [&] { step.problem = prepare(args); });
  }

  /// As add(), if the device takes the problem; false where it does not.
  template <class Args, class Taken>
  bool add_if(const char* name, Args& args, const Taken& taken) {
    add(name, args);
    if (taken(device_, steps_[count_ - 1].problem)) return true;
    --count_;
    return false;
  }

  int size() const { return count_; }
  const Problem& problem(int step) const { return steps_[step].problem; }
  /// A step's arguments have changed.
  template <class Args>
  void prepare_again(int step, Args& args) {
    named(steps_[step].name, [&] { steps_[step].problem = prepare(args); });
  }

  /// A step of another sequence, which is ready.
  void add_ready(const Sequence& other, int step) { steps_[count_++] = other.steps_[step]; }

  void add(UvqkCalls& calls) {
    const auto taken = [](const DeviceFacts& device, const Problem& both) { return takes_one_product(device, both); };
    if (calls.both && add_if("layer norm and UVQK projection", *calls.both, taken)) return;
    add("layer norm", calls.norm);
    add_projection("UVQK projection", calls);
  }
  void add(AttentionCalls& calls) {
    add(calls.uvqk);
    add("attention", calls.attention);
  }
  void add(OutputCalls& calls) {
    add("norm * u", calls.gate);
    add_projection("output projection", calls);
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
  template <class Calls>
  void add_projection(const char* name, Calls& calls) {
    if (calls.product)
      add(name, *calls.product);
    else
      add(name, calls.project);
  }

  const DeviceFacts& device_;
  Step steps_[kMostSteps];
  int count_ = 0;
};

template <class Args>
void run_stage(Context& context, Args& args, CUstream stream) {
  Workspace space(args.workspace, args.workspace_size);
  auto calls = calls_of(args, space);
  Sequence sequence(context.facts());
  sequence.add(calls);
  sequence.make_ready(context, stream);
  sequence.run(context, stream);
}

/// A layer's calls, prepared. Of layers behind the first, which is ready by then, that of attention is the first's.
class PreparedLayer {
 public:
  PreparedLayer(const Context& context, hstu_stack_args& args, int64_t index, const PreparedLayer* first)
      : space_(args.workspace, args.workspace_size), calls_(calls_of(args, index, space_)), sequence_(context.facts()) {
    if (first) {
      sequence_.add(calls_.attention.uvqk);
      sequence_.add_ready(first->sequence_, first->attention_);
    } else {
      sequence_.add(calls_.attention);
    }
    attention_ = sequence_.size() - 1;
    if (sequence_.problem(attention_)[attention::kMoments] == 0 || !add_one_product(first == nullptr))
      sequence_.add(calls_.output);
  }
  PreparedLayer(const PreparedLayer&) = delete;
  PreparedLayer& operator=(const PreparedLayer&) = delete;

  Sequence& sequence() { return sequence_; }

 private:
  /// The output stage, if the device makes it so; if not, `own` attention need not leave what it is made by.
  bool add_one_product(bool own) {
    const auto taken = [&](const DeviceFacts& device, const Problem& product) {
      return takes_one_product(device, sequence_.problem(attention_), product);
    };
    const char* const name = "output stage";
    if (calls_.gated_fp8 ? sequence_.add_if(name, *calls_.gated_fp8, taken)
                         : sequence_.add_if(name, calls_.gated, taken))
      return true;
    if (own) {
      calls_.attention.attention.moments = {};
      sequence_.prepare_again(attention_, calls_.attention.attention);
    }
    return false;
  }

  Workspace space_;
  LayerCalls calls_;
  Sequence sequence_;  // of calls_
  int attention_ = 0;  // which of its steps
};

/// Puts the layer's index in front of its errors.
template <class Body>
void in_layer(int64_t index, Body&& body) {
  try {
    body();
  } catch (const Error& error) { throw Error(error.status(), fmt::format("layers[{}]: {}", index, error.message())); }
}

/// Launches of a layer's steps, which are ready. Then their arguments are no longer needed.
class BoundLayer {
 public:
  /// False where a step runs no kernel.
  bool bind(const Context& context, std::span<Step> steps) {
    for (const Step& step : steps)
      if (!step.plan || !step.plan->kernel) return false;
    count_ = 0;
    for (Step& step : steps) {
      if (!step.launch) {
        Launch& own = own_[count_];
        own = {};
        named(step.name, [&] { context.bind(*step.plan, step.args, own); });
        step.launch = &own;
      }
      steps_[count_++] = {step.name, step.plan, step.launch};
    }
    return true;
  }
  /// step: the one that is launched.
  void launch(const Context& context, CUstream stream, int& step) const {
    for (step = 0; step < count_; ++step)
      named(steps_[step].name, [&] { context.launch(*steps_[step].plan, *steps_[step].launch, stream); });
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

/// A step of a stack.
struct Place {
  int64_t layer = 0;
  int step = 0;
};

/// A stack of few layers with all its launches bound, and what they were bound for: each thread keeps its last one, as
/// servers call with the same buffers again.
class BoundStack {
 public:
  static constexpr int64_t kMostLayers = 8;

  static BoundStack& of_thread() {
    // Not in the thread's own storage: that is part of its stack, and some threads have little.
    return OfThread<BoundStack>::get();
  }

  // Padding that differs, too, costs no more than binding anew.
  // NOLINTBEGIN(bugprone-suspicious-memory-comparison)
  bool holds(const Context& context, const hstu_stack_args& args) const {
    return generation_ == context.plan_generation() && std::memcmp(&args_, &args, sizeof args) == 0 &&
           std::memcmp(weights_, args.layers, weight_bytes(args)) == 0 &&
           (!args.fp8_layers || std::memcmp(fp8_weights_, args.fp8_layers, fp8_weight_bytes(args)) == 0);
  }
  // NOLINTEND(bugprone-suspicious-memory-comparison)

  /// Nothing runs before everything can. False where something runs no kernel.
  bool bind(Context& context, hstu_stack_args& args, CUstream stream) {
    generation_ = 0;  // nobody's
    const uint64_t generation = context.plan_generation();
    std::memcpy(&args_, &args, sizeof args);
    std::memcpy(weights_, args.layers, weight_bytes(args));
    if (args.fp8_layers) std::memcpy(fp8_weights_, args.fp8_layers, fp8_weight_bytes(args));
    std::optional<PreparedLayer> first, other;
    for (int64_t i = 0; i < args.num_layers; ++i) {
      bool bound = false;
      in_layer(i, [&] {
        PreparedLayer& layer =
            i == 0 ? first.emplace(context, args, i, nullptr) : other.emplace(context, args, i, &*first);
        layer.sequence().make_ready(context, stream);
        bound = layers_[i].bind(context, layer.sequence().steps());
      });
      if (!bound) return false;
    }
    generation_ = generation;
    return true;
  }

  /// at: what is launched.
  void launch(const Context& context, CUstream stream, Place& at) const {
    for (at.layer = 0; at.layer < args_.num_layers; ++at.layer)
      in_layer(at.layer, [&] { layers_[at.layer].launch(context, stream, at.step); });
  }

 private:
  static size_t weight_bytes(const hstu_stack_args& args) {
    return static_cast<size_t>(args.num_layers) * sizeof(hstu_layer_weights);
  }
  static size_t fp8_weight_bytes(const hstu_stack_args& args) {
    return static_cast<size_t>(args.num_layers) * sizeof(hstu_fp8_layer_weights);
  }

  uint64_t generation_ = 0;
  hstu_stack_args args_;
  hstu_layer_weights weights_[kMostLayers];
  hstu_fp8_layer_weights fp8_weights_[kMostLayers];
  BoundLayer layers_[kMostLayers];
};

/// A stack step by step: on the CPU, for deep stacks, and where traffic is counted.
void run_steps(Context& context, hstu_stack_args& args, CUstream stream) {
  std::optional<PreparedLayer> first, other;
  const auto prepare = [&](int64_t i) -> Sequence& {
    return (i == 0 ? first.emplace(context, args, i, nullptr) : other.emplace(context, args, i, &*first)).sequence();
  };
  for (int64_t i = 0; i < args.num_layers; ++i) in_layer(i, [&] { prepare(i).make_ready(context, stream); });
  for (int64_t i = 0; i < args.num_layers; ++i)
    in_layer(i, [&] { (i == 0 ? first->sequence() : prepare(i)).run(context, stream); });
}

/// What is left of a stack from a step on whose launch ended in an error, if it can be done: see launch_default().
bool run_rest(Context& context, hstu_stack_args& args, CUstream stream, Place at, const Error& error) {
  std::optional<PreparedLayer> first, other;
  first.emplace(context, args, 0, nullptr).sequence().make_ready(context, stream);
  bool done = true;
  for (int64_t i = at.layer; i < args.num_layers && done; ++i)
    in_layer(i, [&] {
      Sequence& sequence = (i == 0 ? *first : other.emplace(context, args, i, &*first)).sequence();
      sequence.make_ready(context, stream);
      const auto steps = sequence.steps().subspan(i == at.layer ? static_cast<size_t>(at.step) : 0);
      for (const Step& step : steps)
        if (i == at.layer && &step == steps.data())
          done = step.plan && context.launch_default(*step.plan, error, step.args, stream);
        else if (done)
          named(step.name, [&] { context.run(step.problem, step.args, stream); });
    });
  return done;
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
  if (args.num_layers > BoundStack::kMostLayers || context.records_traffic()) return run_steps(context, args, stream);
  BoundStack& bound = BoundStack::of_thread();
  if (!bound.holds(context, args) && !bound.bind(context, args, stream)) return run_steps(context, args, stream);
  Place at;
  try {
    bound.launch(context, stream, at);
  } catch (const Error& error) {
    if (error.status() != HSTU_ERROR_DEVICE || !run_rest(context, args, stream, at, error)) throw;
  }
}

}  // namespace hstujit::layer
