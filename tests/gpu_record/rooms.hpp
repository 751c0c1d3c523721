// The rooms of the GPU tests: a folder of tests/kernels/, or a file beside these folders. A room stands for what its
// tests run, so that a change of a kernel asks for no others.
#pragma once

#include "gpu_record/sources.hpp"

#include <set>
#include <string>
#include <string_view>

namespace hstujit::gpu_record {

/// Devices as tests are told them: all kernels, and those of the sm_80 generation alone.
constexpr std::string_view kTestDevices[] = {"cuda", "cuda@sm_80"};

/// "norm" of ".../tests/kernels/norm/softmax_sweep_test.cpp", "prim" of ".../tests/kernels/prim_test.cpp". Throws
/// Error{INVALID_ARGUMENT} for other files.
std::string room_of(std::string_view file);
/// All that lie in the tree.
std::set<std::string> rooms(const Sources& sources);

/// What the room's tests depend on there, by the names that Sources has: families of the operators of the folder's name
/// and of those whose args structs its files name, device code beside it, and where a file is about launches,
/// kLaunching. A file that takes operators from a table, or names none, depends on all families.
std::set<std::string> dependencies(Sources& sources, const std::string& room, std::string_view test_device);

}  // namespace hstujit::gpu_record
