#include "support/unkept.hpp"

#include <mutex>

namespace hstujit {
namespace {

// Never destroyed: threads of the host may still be inside the library while the process ends.
struct State {
  std::mutex mutex;
  Unkept unkept;
};

State& state() {
  static State& only = *new State;
  return only;
}

void count(int64_t Unkept::*member, int64_t count, const std::string& reason) {
  if (count == 0) return;
  const std::lock_guard lock(state().mutex);
  Unkept& all = state().unkept;
  if (all.kernels + all.records == 0) all.reason = reason;
  all.*member += count;
}

}  // namespace

void count_unkept_kernels(int64_t kernels, const std::string& reason) { count(&Unkept::kernels, kernels, reason); }
void count_unkept_records(int64_t records, const std::string& reason) { count(&Unkept::records, records, reason); }

Unkept unkept() {
  const std::lock_guard lock(state().mutex);
  return state().unkept;
}

}  // namespace hstujit
