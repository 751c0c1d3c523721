// What runs chains: all steps are checked and made ready before the first is launched, and a call like the one before
// is its launches and nothing else. A chain on the engine is a class D that says what its steps are:
//
//   Args           the public struct
//   kParts         what messages call its parts, the same steps over and over ("layers"); null: it is one part
//   kMostSteps     of a part
//   kBoundParts    a thread keeps the launches of a call with so many parts
//   kArrayBytes    what the arguments of such a call point to on the host
//   parts(args)    how many there are; throws Error where there can be none
//   arrays(args)   what the arguments point to on the host, and point_to(args, arrays) to copies of it
//   Part           (args, index, first, fusing): a part's arguments; steps() are its calls. first: part 0, or null
#pragma once

#include "call/context.hpp"
#include "chain/chains.hpp"
#include "chain/fused.hpp"
#include "chain/steps.hpp"
#include "chain/workspace.hpp"
#include "support/thread_end.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <span>

namespace hstujit::chain {

/// One of a chain's parts, for messages: layers[index].
struct PartName {
  const char* parts;
  int64_t index;
};

/// Puts the part's name in front of its errors.
template <class Body>
void in_part(PartName part, Body&& body) {
  if (!part.parts) return body();
  try {
    body();
  } catch (const Error& error) {
    throw Error(error.status(), fmt::format("{}[{}]: {}", part.parts, part.index, error.message()));
  }
}

/// Asks for every step's plan before it reports that one is not ready, so that all are prepared at the same time.
class Readiness {
 public:
  void ask(Context& context, std::span<Step> steps, PartName part, CUstream stream);
  bool all() const { return !not_ready_; }
  /// Throws what the first step said that is not ready.
  void report() const {
    if (not_ready_) throw Error(*not_ready_);
  }

 private:
  std::optional<Error> not_ready_;
};

/// Makes the steps' calls one by one.
void run_steps(Context& context, std::span<const Step> steps, CUstream stream);

/// What is left of a part from a step on whose launch ended in this error, if it can be done: see launch_default().
bool run_rest(Context& context, std::span<const Step> steps, const Error& error, CUstream stream);

/// A step of a chain.
struct Place {
  int64_t part = 0;
  size_t step = 0;  ///< of the part
};

/// Launches of steps, whose arguments are no longer needed then.
class BoundSteps {
 public:
  struct Bound {
    const char* name;
    const Plan* plan;
    const Launch* launch;
    Place place;
  };

  BoundSteps(std::span<Bound> room, std::span<Launch> launches) : room_(room), launches_(launches) {}

  void clear() { count_ = 0; }
  /// Those of a part behind those that are there. False where a step runs no kernel.
  bool add(const Context& context, std::span<Step> steps, PartName part);
  /// at: what is launched.
  void launch(const Context& context, const char* parts, CUstream stream, Place& at) const;

 private:
  std::span<Bound> room_;
  std::span<Launch> launches_;
  size_t count_ = 0;
};

/// Part `index`, in `first` or in place of the one before it in `other`.
template <class D>
typename D::Part& part_at(std::optional<typename D::Part>& first, std::optional<typename D::Part>& other,
                          typename D::Args& args, int64_t index, const Fusing& fusing) {
  return index == 0 ? first.emplace(args, index, nullptr, fusing) : other.emplace(args, index, &*first, fusing);
}

/// The parts one after the other, for as long as body(steps, part) returns true.
template <class D, class Body>
void for_each_part(typename D::Args& args, const Fusing& fusing, const Body& body) {
  std::optional<typename D::Part> first, other;
  const int64_t parts = D::parts(args);
  for (int64_t i = 0; i < parts; ++i) {
    const PartName name{D::kParts, i};
    in_part(name, [&] { part_at<D>(first, other, args, i, fusing); });
    if (!body((i == 0 ? first : other)->steps().all(), name)) return;
  }
}

/// A call with all its launches bound, and what they were bound for: each thread keeps its last one of each chain, as
/// servers call with the same buffers again.
template <class D>
class BoundCall {
 public:
  using Args = typename D::Args;

  BoundCall() = default;
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  static BoundCall& of_thread() {
    // Not in the thread's own storage: that is part of its stack, and some threads have little.
    return OfThread<BoundCall>::get();
  }

  // Padding that differs, too, costs no more than binding anew.
  // NOLINTBEGIN(bugprone-suspicious-memory-comparison)
  bool holds(const Context& context, const Args& args) const {
    return generation_ == context.plan_generation() && std::memcmp(&args_, &args, sizeof args) == 0 &&
           same_arrays(args);
  }
  // NOLINTEND(bugprone-suspicious-memory-comparison)

  /// Nothing runs before everything can. False where something runs no kernel.
  bool bind(Context& context, Args& args, CUstream stream) {
    generation_ = 0;  // nobody's
    const uint64_t generation = context.plan_generation();
    std::memcpy(&args_, &args, sizeof args);
    keep_arrays(args);
    steps_.clear();
    Readiness readiness;
    bool kernels = true;
    for_each_part<D>(args, Fusing(context.facts()), [&](std::span<Step> steps, PartName part) {
      readiness.ask(context, steps, part, stream);
      return kernels = !readiness.all() || steps_.add(context, steps, part);
    });
    if (!kernels) return false;
    readiness.report();
    generation_ = generation;
    return true;
  }

  /// at: what is launched.
  void launch(const Context& context, CUstream stream, Place& at) const {
    steps_.launch(context, D::kParts, stream, at);
  }

 private:
  static constexpr size_t kRoom = size_t{D::kMostSteps} * D::kBoundParts;

  bool same_arrays(const Args& args) const {
    size_t at = 0;
    for (const HostArray& array : D::arrays(args)) {
      if (array.bytes > 0 && std::memcmp(arrays_.data() + at, array.data, array.bytes) != 0) return false;
      at += array.bytes;
    }
    return true;
  }
  void keep_arrays(const Args& args) {
    size_t at = 0;
    for (const HostArray& array : D::arrays(args)) {
      if (array.bytes > 0) std::memcpy(arrays_.data() + at, array.data, array.bytes);
      at += array.bytes;
    }
  }

  uint64_t generation_ = 0;
  Args args_;
  std::array<std::byte, D::kArrayBytes> arrays_;
  std::array<BoundSteps::Bound, kRoom> room_;
  std::array<Launch, kRoom> launches_;
  BoundSteps steps_{room_, launches_};
};

template <class D>
class Engine {
 public:
  using Args = typename D::Args;
  static_assert(sizeof(BoundCall<D>) <= kMostThreadBytes, "a thread keeps too much of a chain");

  static void run(Context& context, Args& args, CUstream stream) {
    if (D::parts(args) > D::kBoundParts || context.records_traffic()) return run_step_by_step(context, args, stream);
    auto& bound = BoundCall<D>::of_thread();
    if (!bound.holds(context, args) && !bound.bind(context, args, stream))
      return run_step_by_step(context, args, stream);
    Place at;
    try {
      bound.launch(context, stream, at);
    } catch (const Error& error) {
      if (error.status() != HSTU_ERROR_DEVICE || !run_behind(context, args, stream, at, error)) throw;
    }
  }

  static void make_ready(Context& context, Args& args, CUstream stream) {
    Readiness readiness;
    for_each_part<D>(args, Fusing(context.facts()), [&](std::span<Step> steps, PartName part) {
      readiness.ask(context, steps, part, stream);
      return true;
    });
    readiness.report();
  }

  static void check_takes(const Context& context, Args& args) {
    for_each_part<D>(args, Fusing(context.facts()), [&](std::span<Step> steps, PartName part) {
      for (const Step& step : steps)
        in_part(part, [&] { named(step.name, [&] { context.check_takes(step.problem, step.args); }); });
      return true;
    });
  }

  static void visit(Args& args, const Fusing& fusing, const StepVisitor& visitor) {
    for_each_part<D>(args, fusing, [&](std::span<Step> steps, PartName part) {
      for (const Step& step : steps) visitor(part.index, step);
      return true;
    });
  }

 private:
  /// On the CPU, for more parts than a thread keeps, and where traffic is counted.
  static void run_step_by_step(Context& context, Args& args, CUstream stream) {
    make_ready(context, args, stream);
    for_each_part<D>(args, Fusing(context.facts()), [&](std::span<Step> steps, PartName part) {
      in_part(part, [&] { run_steps(context, steps, stream); });
      return true;
    });
  }

  static bool run_behind(Context& context, Args& args, CUstream stream, Place at, const Error& error) {
    bool done = true;
    for_each_part<D>(args, Fusing(context.facts()), [&](std::span<Step> steps, PartName part) {
      Readiness readiness;
      readiness.ask(context, steps, part, stream);
      readiness.report();
      if (part.index < at.part) return true;
      in_part(part, [&] {
        if (part.index == at.part)
          done = run_rest(context, steps.subspan(at.step), error, stream);
        else
          run_steps(context, steps, stream);
      });
      return done;
    });
    return done;
  }
};

/// The functions of chains.hpp, on the engine.
#define HSTUJIT_ON_ENGINE(D)                                                                                          \
  void run(Context& context, D::Args& args, CUstream stream) { Engine<D>::run(context, args, stream); }               \
  void make_ready(Context& context, D::Args& args, CUstream stream) { Engine<D>::make_ready(context, args, stream); } \
  void check_takes(const Context& context, D::Args& args) { Engine<D>::check_takes(context, args); }                  \
  void visit(D::Args& args, const Fusing& fusing, const StepVisitor& visitor) {                                       \
    Engine<D>::visit(args, fusing, visitor);                                                                          \
  }                                                                                                                   \
  HostArrays arrays_of(const D::Args& args) { return D::arrays(args); }                                               \
  void point_to(D::Args& args, const HostArrays& arrays) { D::point_to(args, arrays); }                               \
  size_t thread_bytes(const D::Args*) { return sizeof(BoundCall<D>); }

/// A chain of one part: its calls are what calls_of() makes of the arguments, and `add` puts them behind each other.
template <class ChainArgs, class Calls, size_t kSteps>
struct OnePart {
  using Args = ChainArgs;
  static constexpr const char* kParts = nullptr;
  static constexpr size_t kMostSteps = kSteps, kArrayBytes = 0;
  static constexpr int64_t kBoundParts = 1;
  static int64_t parts(const Args&) { return 1; }
  static HostArrays arrays(const Args&) { return {}; }
  static void point_to(Args&, const HostArrays&) {}

  class Part {
   public:
    Part(Args& args, int64_t, const Part*, const Fusing& fusing)
        : space_(args.workspace, args.workspace_size), calls_(calls_of(args, space_)) {
      add(steps_, calls_, fusing);
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    Steps& steps() { return steps_; }

   private:
    Workspace space_;
    Calls calls_;
    std::array<Step, kSteps> room_;
    Steps steps_{room_};
  };
};

}  // namespace hstujit::chain
