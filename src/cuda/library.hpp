// A shared library opened at run time, and the one clear message when none of its names can be opened.
#pragma once

#include "support/error.hpp"

#include <span>
#include <string>
#include <string_view>

namespace hstujit {

/// What to open and what to say when that fails.
struct LibraryRequest {
  std::string_view what;                    ///< "the CUDA driver"
  std::span<const std::string> candidates;  ///< sonames or paths, tried in order
  hstu_status status;                       ///< of the error
  std::string_view way_out;                 ///< "install it, or set HSTUJIT_LIBCUDA to its path"
};

/// dlopen with all symbols bound and none given to others: the handle, or null and the loader's reason, valid until the
/// thread's next use of the loader. Throws std::bad_alloc where the loader had no memory.
void* open_library(const char* name, const char*& reason);

class Library {
 public:
  /// Opens the first candidate that loads. Throws Error naming every candidate with the loader's reason.
  explicit Library(const LibraryRequest& request);
  ~Library();
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;

  /// The symbol's address, or null.
  void* find(const char* symbol) const;

  /// find() as the type of the declared function; null stays null.
  template <class Function>
  void find_into(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }

  /// The file behind it, as the loader resolved it.
  const std::string& path() const { return path_; }

 private:
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace hstujit
