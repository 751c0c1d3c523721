// What a profiler puts into a process through NVTX_INJECTION64_PATH; this one appends "push NAME" and "pop" to the file
// that HSTU_FAKE_NVTX names. Without NVTX's headers it is an empty library.
#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

void write(const char* what, const char* name) {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  const char* const path = std::getenv("HSTU_FAKE_NVTX");
  std::FILE* const file = path ? std::fopen(path, "a") : nullptr;
  if (!file) return;
  std::fprintf(file, "%s %s\n", what, name);
  std::fclose(file);
}

nvtxDomainHandle_t NVTX_API create(const char* name) {
  static int domain;
  write("domain", name);
  return reinterpret_cast<nvtxDomainHandle_t>(&domain);
}
int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  return write("push", event->message.ascii), 0;
}
int NVTX_API pop(nvtxDomainHandle_t) { return write("pop", ""), 0; }

template <class Function>
void put(NvtxFunctionTable table, int index, Function function) {
  *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  put(table, NVTX_CBID_CORE2_DomainCreateA, create);
  put(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  put(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}

#endif
