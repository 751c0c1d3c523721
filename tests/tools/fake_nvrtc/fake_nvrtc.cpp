// An NVRTC for the doctor's tests and for those that only count launches, opened through HSTUJIT_LIBNVRTC: of the
// version that HSTU_FAKE_NVRTC names (13000 for 13.0), and with HSTU_FAKE_NVRTC_BUILTINS=missing failing as the real
// one does when its second library is not there. What it compiles is no kernel.
#include <nvrtc.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

struct _nvrtcProgram {
  char* entry = nullptr;  ///< the name expression, which is its own lowered name
};

namespace {

constexpr char kLog[] =
    "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n"
    "  Make sure that libnvrtc-builtins.so.13.0 is installed correctly.";
constexpr char kBinary[] = "no kernel";

int version() {
  const char* const asked = std::getenv("HSTU_FAKE_NVRTC");
  return asked ? std::atoi(asked) : 13000;
}

bool has_builtins() {
  const char* const asked = std::getenv("HSTU_FAKE_NVRTC_BUILTINS");
  return !asked || std::string_view(asked) != "missing";
}

std::string_view log() { return has_builtins() ? "" : kLog; }

nvrtcResult give(std::string_view text, char* to) {
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = version() / 1000;
  *minor = version() % 1000 / 10;
  return NVRTC_SUCCESS;
}
const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE ? "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE" : "another";
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) { return *count = 2, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetSupportedArchs(int* archs) { return archs[0] = 80, archs[1] = 90, NVRTC_SUCCESS; }
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char*, const char*, int, const char* const*,
                               const char* const*) {
  *program = new (std::nothrow) _nvrtcProgram;
  return *program ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  std::free((*program)->entry);
  delete *program;
  return *program = nullptr, NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char* const*) {
  return has_builtins() ? NVRTC_SUCCESS : NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t* bytes) { return *bytes = sizeof kBinary, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetPTX(nvrtcProgram, char* to) { return give(kBinary, to); }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram, size_t* bytes) { return *bytes = sizeof kBinary, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram, char* to) { return give(kBinary, to); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t* bytes) { return *bytes = log().size() + 1, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char* to) { return give(log(), to); }
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* name) {
  program->entry = strdup(name);
  return program->entry ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char*, const char** name) {
  return *name = program->entry, NVRTC_SUCCESS;
}
nvrtcResult nvrtcSetFlowCallback(nvrtcProgram, int (*)(void*, void*), void*) { return NVRTC_SUCCESS; }

}  // extern "C"
