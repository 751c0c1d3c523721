// The text of a C++ or CUDA file as a compiler sees it, so that comments and line breaks make no difference between
// two.
#pragma once

#include <string>
#include <string_view>

namespace hstujit::gpu_record {

/// Without comments, and with white space only where it parts words or operators, or ends a directive. Literals stay as
/// they are.
std::string bare_text(std::string_view text);

}  // namespace hstujit::gpu_record
