#include "launch/plan_table.hpp"

#include <algorithm>
#include <utility>

namespace hstujit {

namespace {

uint64_t next_generation() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

PlanTable::PlanTable() : generation_(next_generation()) {
  constexpr size_t kFirstCapacity = 256;
  tables_.push_back(std::make_unique<Slots>(kFirstCapacity));
  current_.store(tables_.back().get(), std::memory_order_release);
}

const Plan& PlanTable::insert(std::unique_ptr<Plan> plan) {
  const std::lock_guard lock(writing_);
  if (const Plan* known = find(plan->problem)) return *known;
  return add(std::move(plan));
}

const Plan& PlanTable::replace(std::unique_ptr<Plan> plan) {
  const std::lock_guard lock(writing_);
  const auto known = std::ranges::find_if(owned_, [&](const auto& each) { return each->problem == plan->problem; });
  if (known == owned_.end()) return add(std::move(plan));
  replaced_.push_back(nullptr);  // before anything changes, for it may throw
  std::swap(*known, plan);
  replaced_.back() = std::move(plan);
  place(*tables_.back(), known->get());
  renew();
  return **known;
}

void PlanTable::renew() { generation_.store(next_generation(), std::memory_order_release); }

const Plan& PlanTable::add(std::unique_ptr<Plan> plan) {
  const bool grows = (owned_.size() + 1) * 2 > tables_.back()->plans.size();
  std::unique_ptr<Slots> larger = grows ? std::make_unique<Slots>(tables_.back()->plans.size() * 2) : nullptr;
  if (grows) tables_.reserve(tables_.size() + 1);
  owned_.push_back(std::move(plan));  // the last that may throw
  if (grows) {
    tables_.push_back(std::move(larger));
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

// In the slot of the problem's present plan, if there is one, else in the first free one.
void PlanTable::place(Slots& slots, const Plan* plan) {
  size_t i = plan->problem.hash();
  for (const Plan* at; (at = slots.at(i).load(std::memory_order_relaxed)) && !(at->problem == plan->problem);) ++i;
  slots.at(i).store(plan, std::memory_order_release);
}

}  // namespace hstujit
