// The steps of a chain: calls of operators in their order, prepared. They lie on the stack: a call of a chain allocates
// nothing.
#pragma once

#include "launch/plan.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <span>

namespace hstujit::chain {

struct Step {
  const char* name = nullptr;      ///< which part of the chain it is, for messages
  const void* args = nullptr;      ///< prepared
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

class Steps {
 public:
  /// room: for the most steps that the chain may have.
  explicit Steps(std::span<Step> room) : room_(room) {}
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// `args` is prepared in place and must outlive this; `name` says in messages which part of the chain it is.
  template <class Args>
  void add(const char* name, Args& args) {
    Step& step = next();
    step.name = name;
    step.args = &args;
    named(name, [&] { step.problem = prepare(args); });
  }

  /// As add(), if `taken` says so of the problem; false where it does not.
  template <class Args, class Taken>
  bool add_if(const char* name, Args& args, const Taken& taken) {
    add(name, args);
    if (taken(room_[count_ - 1].problem)) return true;
    --count_;
    return false;
  }

  /// A step of another part, as far as it has come there.
  void add(const Step& other) { next() = other; }

  /// A step's arguments have changed.
  template <class Args>
  void prepare_again(size_t step, Args& args) {
    named(room_[step].name, [&] { room_[step].problem = prepare(args); });
  }

  size_t size() const { return count_; }
  const Step& operator[](size_t step) const { return room_[step]; }
  std::span<Step> all() { return room_.first(count_); }

 private:
  Step& next() {
    if (count_ == room_.size())
      fail(HSTU_ERROR_INTERNAL, "a chain has more steps than the {} that it has room for", room_.size());
    return room_[count_++] = Step{};
  }

  std::span<Step> room_;
  size_t count_ = 0;
};

}  // namespace hstujit::chain
