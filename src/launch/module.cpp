#include "launch/module.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

// A block may have 48 KB without asking. What a kernel has statically is known where ptxas said so, and never a third.
constexpr int kUnaskedSmemBytes = 32 * 1024;

CUresult launch_nothing(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }

}  // namespace

// A module, not a library (cuLibraryLoadData): it loads in half the time.
LoadedKernel::LoadedKernel(const Driver& driver, const CompiledKernel& kernel, int smem_bytes)
    : driver_(driver), home_(driver) {
  driver.check(driver.cuModuleLoadData(&module_, kernel.binary.data()), fmt::format("loading {}", kernel.name).c_str());
  try {
    driver.check(driver.cuModuleGetFunction(&function_, module_, kernel.entry.c_str()),
                 fmt::format("finding {} in {}", kernel.entry, kernel.name).c_str());
    if (smem_bytes <= kUnaskedSmemBytes) return;
    driver.check(driver.cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, smem_bytes),
                 fmt::format("giving {} {} bytes of shared memory", kernel.name, smem_bytes).c_str());
  } catch (...) {
    driver.cuModuleUnload(module_);
    throw;
  }
}

LoadedKernel::~LoadedKernel() {
  home_.leave([&] { driver_.cuModuleUnload(module_); });
}

CUlaunchConfig LoadedKernel::driver_config(const Launch& launch, CUstream stream, CUlaunchAttribute* attributes) const {
  CUlaunchConfig config{};
  config.gridDimX = launch.grid[0];
  config.gridDimY = launch.grid[1];
  config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.block[0];
  config.blockDimY = launch.block[1];
  config.blockDimZ = launch.block[2];
  config.sharedMemBytes = launch.smem_bytes;
  config.hStream = stream;
  config.attrs = attributes;
  if (launch.cluster > 1) {
    CUlaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {launch.cluster, 1, 1};
  }
  constexpr int kCapturesDependence = 12030;  // since CUDA 12.3 captures keep the attribute
  if (launch.dependent && driver_.version >= kCapturesDependence) {
    CUlaunchAttribute& dependent = attributes[config.numAttrs++];
    dependent.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    dependent.value.programmaticStreamSerializationAllowed = 1;
  }
  return config;
}

CUresult LoadedKernel::launch(const Launch& launch, CUstream stream) const {
  CUlaunchAttribute attributes[kMostAttributes];
  const CUlaunchConfig config = driver_config(launch, stream, attributes);
  void* params[] = {const_cast<std::byte*>(launch.params)};  // the driver copies them
  return driver_.cuLaunchKernelEx(&config, function_, params, nullptr);
}

ReadyLaunch::ReadyLaunch(const LoadedKernel* kernel, const Launch& launch, CUstream stream) : call_(launch_nothing) {
  config_.hStream = stream;
  if (!kernel || launch.grid[0] == 0) return;
  call_ = kernel->driver().cuLaunchKernelEx;
  function_ = kernel->function();
  params_[0] = const_cast<std::byte*>(launch.params);
  config_ = kernel->driver_config(launch, stream, attributes_);
}

CUresult ReadyLaunch::elsewhere(CUstream stream) const {
  CUlaunchConfig config = config_;
  config.hStream = stream;
  return call_(&config, function_, params_, nullptr);
}

}  // namespace hstujit
