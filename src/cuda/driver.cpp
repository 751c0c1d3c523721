#include "cuda/driver.hpp"

#include "cuda/library.hpp"
#include "cuda/nvrtc.hpp"
#include "support/env.hpp"
#include "support/error.hpp"

#include <new>
#include <span>
#include <variant>

namespace hstujit {
namespace {

// cuTensorMapEncodeTiled and the two-argument form of version lookup are this old.
constexpr int kOldestDriver = 12000;

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

using GetProcAddress = decltype(&::cuGetProcAddress);

void* find_function(GetProcAddress get, const Driver& driver, const char* symbol, int version) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult found{};
  const CUresult result = get(symbol, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  if (result == CUDA_ERROR_STUB_LIBRARY)
    fail(HSTU_ERROR_DEVICE,
         "{} is the toolkit's stub, made for linking, not a driver: take it out of the library path, or set "
         "HSTUJIT_LIBCUDA to the driver's libcuda.so.1",
         driver.path);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  if (result != CUDA_SUCCESS || !function)
    fail(HSTU_ERROR_DEVICE, "{} (CUDA {}) lacks {}: CUDA {} or newer is needed, update the driver", driver.path,
         version_text(driver.version), symbol, version_text(kOldestDriver));
  return function;
}

// Fills the function members. The symbol must stay unexpanded for the lookup ("cuMemAlloc"): cuda.h renames many
// functions by macro, and the version asked for picks the same variant as the header's declaration.
void find_functions(GetProcAddress get, Driver& driver) {
#define HSTU_FIND(function, version) \
  driver.function = reinterpret_cast<decltype(driver.function)>(find_function(get, driver, #function, version));
  HSTU_DRIVER_FUNCTIONS(HSTU_FIND)
#undef HSTU_FIND
}

// The driver, or why there is none; decided once per process.
std::variant<Driver, Error> open_or_failure() {
  try {
    const std::string asked = Environment::read().libcuda;
    return open_driver(asked.empty() ? "libcuda.so.1" : asked);
  } catch (const Error& error) {
    if (error.status() == HSTU_ERROR_OUT_OF_MEMORY) throw;  // decided when there is some
    return error;
  }
}

}  // namespace

void Driver::check(CUresult result, const char* doing) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  fail(result == CUDA_ERROR_OUT_OF_MEMORY ? HSTU_ERROR_OUT_OF_MEMORY : HSTU_ERROR_DEVICE, "{}: {} ({}: {})", doing,
       name ? name : "unknown CUDA error", static_cast<int>(result), text ? text : "no description");
}

void Driver::upload(CUdeviceptr to, const void* from, size_t bytes) const {
  check(cuMemcpyHtoD(to, from, bytes), "copying to the device");
  check(cuStreamSynchronize(nullptr), "waiting for the copy");
}

Driver open_driver(const std::string& name) {
  const LibraryRequest request{"the CUDA driver", std::span(&name, 1), HSTU_ERROR_DEVICE,
                               "install an NVIDIA driver, set HSTUJIT_LIBCUDA to its libcuda.so.1, or use device "
                               "\"cpu\" or \"sm_80\", which need none"};
  Driver driver;
  driver.library = std::make_shared<const Library>(request);
  driver.path = driver.library->path();
  driver.library->find_into(driver.cuDriverGetVersion, "cuDriverGetVersion");
  if (driver.cuDriverGetVersion) driver.cuDriverGetVersion(&driver.version);
  auto get = reinterpret_cast<GetProcAddress>(driver.library->find("cuGetProcAddress_v2"));
  if (!get)
    fail(HSTU_ERROR_DEVICE, "{} (CUDA {}) lacks cuGetProcAddress_v2: CUDA {} or newer is needed, update the driver",
         driver.path, version_text(driver.version), version_text(kOldestDriver));
  find_functions(get, driver);
  driver.check(driver.cuInit(0), "initialising the CUDA driver");
  return driver;
}

const Driver& driver() {
  static const std::variant<Driver, Error>& opened = *new std::variant<Driver, Error>(open_or_failure());
  if (const Error* failure = std::get_if<Error>(&opened)) throw *failure;
  return std::get<Driver>(opened);
}

DeviceFacts device_facts(const Driver& driver, int ordinal) {
  int count = 0;
  driver.check(driver.cuDeviceGetCount(&count), "counting CUDA devices");
  if (ordinal < 0 || ordinal >= count)
    fail(HSTU_ERROR_DEVICE, "device cuda:{}: this machine has {} CUDA device(s), numbered from 0", ordinal, count);
  CUdevice device = 0;
  driver.check(driver.cuDeviceGet(&device, ordinal), "looking up a CUDA device");
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver.check(driver.cuDeviceGetAttribute(&value, which, device), "asking for a device attribute");
    return value;
  };
  char name[256] = "";
  driver.check(driver.cuDeviceGetName(name, sizeof name - 1, device), "asking for a device's name");

  DeviceFacts facts;
  facts.name = name;
  facts.compute_capability = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                             attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.target = target_of_device(facts.compute_capability);
  facts.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.smem_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts.smem_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  facts.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  facts.threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  facts.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  return facts;
}

}  // namespace hstujit
