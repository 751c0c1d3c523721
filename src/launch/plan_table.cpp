#include "launch/plan_table.hpp"

namespace hstujit {

PlanTable::PlanTable() {
  constexpr size_t kFirstCapacity = 256;
  tables_.push_back(std::make_unique<Slots>(kFirstCapacity));
  current_.store(tables_.back().get(), std::memory_order_release);
}

const Plan& PlanTable::insert(std::unique_ptr<Plan> plan) {
  const std::lock_guard lock(writing_);
  if (const Plan* known = find(plan->problem)) return *known;
  owned_.push_back(std::move(plan));
  if (owned_.size() * 2 > tables_.back()->plans.size()) {
    tables_.push_back(std::make_unique<Slots>(tables_.back()->plans.size() * 2));
    for (const auto& owned : owned_) place(*tables_.back(), owned.get());
    current_.store(tables_.back().get(), std::memory_order_release);
  } else {
    place(*tables_.back(), owned_.back().get());
  }
  return *owned_.back();
}

size_t PlanTable::size() const {
  const std::lock_guard lock(writing_);
  return owned_.size();
}

void PlanTable::place(Slots& slots, const Plan* plan) {
  size_t i = plan->problem.hash();
  while (slots.at(i).load(std::memory_order_relaxed)) ++i;
  slots.at(i).store(plan, std::memory_order_release);
}

}  // namespace hstujit
