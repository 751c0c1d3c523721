// The second library of an NVRTC 99.0, which only has to be found.
extern "C" int hstu_fake_nvrtc_builtins() { return 0; }
