#include "support/ranges.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>

namespace hstujit {
namespace {

/// Null where no tool library is in the process.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t ours = nvtxDomainCreateA("hstujit");
  return ours;
}

}  // namespace

void Range::look_for_tool() {
  if (domain()) watched_.store(true, std::memory_order_relaxed);
}

void Range::push(const std::string& name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &event);
}

void Range::pop() { nvtxDomainRangePop(domain()); }

}  // namespace hstujit

#else  // a toolkit without NVTX's headers: nobody is told anything

namespace hstujit {

void Range::look_for_tool() {}
void Range::push(const std::string&) {}
void Range::pop() {}

}  // namespace hstujit

#endif
