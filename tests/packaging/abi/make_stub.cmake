# Writes a C file that defines every function that the public headers declare, so that abidw and abidiff see the ABI of
# the headers without the library's debug information; that the library exports these functions exactly is another test.
# Usage: cmake -DINCLUDE=... -DOUTPUT=... -P make_stub.cmake
file(GLOB headers ${INCLUDE}/hstujit/*.h)
list(SORT headers)
set(text "#include <hstujit/hstujit.h>\n")
foreach(header IN LISTS headers)
  file(READ ${header} all)
  string(REPLACE ";" "@" all "${all}")  # lists of CMake end at semicolons
  string(REGEX MATCHALL "HSTU_API [^@{}#]*hstu_[a-z0-9_]+\\([^@]*\\)@" found "${all}")
  foreach(declaration IN LISTS found)
    string(REPLACE "@" " { __builtin_trap()@ }\n" definition "${declaration}")
    string(REPLACE "@" ";" definition "${definition}")
    string(APPEND text "${definition}")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "${text}")
