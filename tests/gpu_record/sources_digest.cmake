# Prints SHA-256 over kernels/ and the host code that launches them (file names and contents, sorted), the identity that a
# GPU record belongs to. Where a comment is broken into lines does not count: that is the formatter's; its words do.
# Usage: cmake -DROOT=<repository> -P sources_digest.cmake, or include() it and call the function.
function(hstu_sources_digest given out)
  get_filename_component(root "${given}" ABSOLUTE)
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/kernels/* ${root}/src/families/* ${root}/src/specialise/* ${root}/src/launch/*)
  list(SORT files)
  set(all "")
  foreach(name IN LISTS files)
    file(READ ${root}/${name} text)
    string(REGEX REPLACE "[ \t]*\n[ \t]*///?[ \t]*" " " text "${text}")
    string(SHA256 digest "${text}")
    string(APPEND all "${digest} ${name}\n")
  endforeach()
  string(SHA256 digest "${all}")
  set(${out} ${digest} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  hstu_sources_digest(${ROOT} digest)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${digest})
endif()
