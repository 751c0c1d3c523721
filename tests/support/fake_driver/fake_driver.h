/* A CUDA driver made of host memory, for tests without a GPU: point HSTUJIT_LIBCUDA at the library (tests/support/
 * use_fake_driver.hpp does) and steer it through these functions. Copies and fills really happen; launches are counted,
 * recorded and handed to a hook; time is a virtual clock that only launches advance. All functions may be called from
 * any thread. Processes that a test starts have HSTU_FAKE_DEVICES (1) devices and a driver of version
 * HSTU_FAKE_DRIVER_VERSION (13000 for 13.0; that of cuda.h). */
#ifndef HSTUJIT_FAKE_DRIVER_H
#define HSTUJIT_FAKE_DRIVER_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the last launch was. params are the first bytes of the kernel's only parameter, see params_bytes. */
typedef struct fake_launch {
  CUlaunchConfig config;
  CUfunction function;
  CUcontext context; /* current in the launching thread; NULL if none */
  const char* entry; /* symbol of the function */
  unsigned char params[512];
} fake_launch;

/** Called for every launch; returns the microseconds it shall have taken on the virtual clock. */
typedef double (*fake_launch_hook)(const CUlaunchConfig* config, const char* entry, void** params, void* user);

typedef struct fake_driver_controls {
  /** Forgets counts, failures, hook (see fake_driver_first_hook) and capture; attributes are an H200's again. Memory
   * and handles stay valid. */
  void (*reset)(void);
  /** Calls so far of one function by its plain name ("cuMemAlloc"); name NULL: of all. -1 for an unknown name. */
  int64_t (*calls)(const char* name);
  /** Calls made while capturing that would have broken the capture (allocation, loading, synchronising...). */
  int64_t (*calls_unsafe_in_capture)(void);
  /** What cuStreamIsCapturing answers. */
  void (*set_capture_status)(CUstreamCaptureStatus status);
  /** The next `times` calls of the function return `result` and do nothing; times < 0: all calls. */
  void (*fail_calls)(const char* name, CUresult result, int times);
  /** Overrides an attribute of every device. */
  void (*set_attribute)(CUdevice_attribute attribute, int value);
  void (*set_device_count)(int count);
  /** 1: a launch without a current context is refused, as by the driver on the default stream; 0 by default. */
  void (*set_launch_needs_context)(int on);
  /** Whether launches are kept for last_launch(): 1 by default; 0 makes a launch cost a few nanoseconds. */
  void (*set_recording)(int on);
  /** How many bytes of the first parameter a launch copies into fake_launch::params, at most 512; 0 by default,
   *  because a driver cannot know a parameter's size without its kernel. */
  void (*set_params_bytes)(size_t bytes);
  /** Launches that succeeded; calls("cuLaunchKernelEx") counts the refused ones too. */
  int64_t (*launches)(void);
  fake_launch (*last_launch)(void);
  void (*set_launch_hook)(fake_launch_hook hook, void* user);
  /** Bytes and handles not given back yet. */
  int64_t (*live_bytes)(void);
  int64_t (*live_handles)(void);
} fake_driver_controls;

/** Exported by the library under this name, for dlsym. */
__attribute__((visibility("default"))) const fake_driver_controls* fake_driver(void);

/** The hook after reset(), NULL by default. A library that brings a hook of its own writes it here when it is opened:
 *  an initialiser that needs memory would throw through dlopen, which then holds the loader's lock for ever. */
extern __attribute__((visibility("default"))) fake_launch_hook fake_driver_first_hook;

#ifdef __cplusplus
}
#endif
#endif
