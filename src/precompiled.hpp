// Headers of others that most files include: parsed once. No header of ours belongs here, so that a change of one
// rebuilds only what includes it; files include what they use as if this did not exist.
#pragma once

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>
