// Problem -> Plan. Readers take no lock and never wait: open addressing over atomic pointers. Writers are rare (one per
// new problem) and take a mutex. A grown table replaces the old one, which stays readable until the table dies.
#pragma once

#include "launch/plan.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace hstujit {

class PlanTable {
 public:
  PlanTable();

  /// The problem's plan, or null. Valid as long as the table.
  const Plan* find(const Problem& problem) const {
    const Slots& slots = *current_.load(std::memory_order_acquire);
    for (size_t i = problem.hash();; ++i) {
      const Plan* plan = slots.at(i).load(std::memory_order_acquire);
      if (!plan || plan->problem == problem) return plan;
    }
  }

  /// Keeps the plan; when the problem has one already, that one stays and is returned.
  const Plan& insert(std::unique_ptr<Plan> plan);

  /// Keeps the plan in place of the one that its problem has; calls find it from this one store on. The old one stays
  /// valid for those who hold it.
  const Plan& replace(std::unique_ptr<Plan> plan);

  size_t size() const;

  /// A number that no other table of the process has, nor had, and another one after each replacement and renew():
  /// while it stays, find() gives what it gave.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  /// Makes those who keep what find() gave look again.
  void renew();

 private:
  struct Slots {
    explicit Slots(size_t capacity) : mask(capacity - 1), plans(capacity) {}
    std::atomic<const Plan*>& at(size_t i) { return plans[i & mask]; }
    const std::atomic<const Plan*>& at(size_t i) const { return plans[i & mask]; }

    size_t mask;  ///< capacity - 1; the capacity is a power of two, at most half full
    std::vector<std::atomic<const Plan*>> plans;
  };

  const Plan& add(std::unique_ptr<Plan> plan);
  static void place(Slots& slots, const Plan* plan);

  mutable std::mutex writing_;
  std::vector<std::unique_ptr<Plan>> owned_;     ///< one per problem
  std::vector<std::unique_ptr<Plan>> replaced_;  ///< callers may be in the middle of launching one
  std::vector<std::unique_ptr<Slots>> tables_;   ///< the last is current; readers may still be in earlier ones
  std::atomic<const Slots*> current_;
  std::atomic<uint64_t> generation_;
};

}  // namespace hstujit
