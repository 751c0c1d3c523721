# find_package(hstujit CONFIG) gives the target hstujit::hstujit: the library in this package, and its headers. It needs
# nothing else to link.
get_filename_component(hstujit_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hstujit::hstujit)
  add_library(hstujit::hstujit SHARED IMPORTED)
  set_target_properties(hstujit::hstujit PROPERTIES
    IMPORTED_LOCATION "${hstujit_root}/lib/libhstujit.so.0" IMPORTED_SONAME libhstujit.so.0
    INTERFACE_INCLUDE_DIRECTORIES "${hstujit_root}/include")
endif()
