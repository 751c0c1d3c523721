// What the tuner asks of the machine beside its GPU: kernels, compiled side by side, and the time. compile_pool.hpp
// answers for real, simulated_machine.hpp from recordings.
#pragma once

#include "families/family.hpp"
#include "jit/compiled_kernel.hpp"
#include "specialise/source.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace hstujit {

using KernelPtr = std::shared_ptr<const CompiledKernel>;

/// A kernel that somebody wants.
struct Order {
  uint64_t ticket = 0;  ///< by which it is known when it comes
  const Problem* problem = nullptr;
  const Family* family = nullptr;
  Config config;
  std::function<Source()> source;  ///< called from any thread
};

/// What became of an order.
struct Compiled {
  uint64_t ticket = 0;
  KernelPtr kernel;
  std::exception_ptr error;  ///< where there is no kernel
  double seconds = 0;        ///< that a core took for it
};

/// All of it is called from one thread.
class Cores {
 public:
  virtual ~Cores() = default;

  /// How many kernels are compiled at a time.
  virtual size_t count() const = 0;
  /// Seconds since whatever moment.
  virtual double now() const = 0;
  /// The kernel if nothing has to be compiled for it.
  virtual std::optional<Compiled> find(const Order& order) = 0;
  /// Orders are begun in their order.
  virtual void order(Order order) = 0;
  /// The kernel that was finished first of those not taken; waits for it until that time. Nothing when none came, or
  /// none is on its way.
  virtual std::optional<Compiled> take(double until) = 0;
  /// At once, in the calling thread.
  virtual Compiled make(const Order& order) = 0;
  /// Forgets those of them that have not begun. Their tickets, which never come.
  virtual std::vector<uint64_t> drop(const std::function<bool(uint64_t ticket)>& which) = 0;
  /// The same of all that have not begun.
  std::vector<uint64_t> drop_waiting() {
    return drop([](uint64_t) { return true; });
  }
  /// Seconds that cores have worked, all of them together.
  virtual double busy() const = 0;
};

}  // namespace hstujit
