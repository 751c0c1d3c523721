# What `cmake --install` puts where, how other projects find it (find_package, pkg-config), and packages through CPack.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hstujit)

set(CPACK_GENERATOR "TGZ;DEB")
set(CPACK_PACKAGE_NAME hstujit)
set(CPACK_PACKAGE_VENDOR "libhstujit")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CONTACT "libhstujit maintainers <maintainers@users.noreply.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Kernels for HSTU recommenders, compiled at run time and tuned")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # libsqlite3-0, libzstd1, libfmt, libspdlog: as dpkg-shlibdeps finds them

install(TARGETS hstujit EXPORT hstujit-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS hstu-tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/hstujit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY tools/workloads DESTINATION ${CMAKE_INSTALL_DATADIR}/hstujit)
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)

install(EXPORT hstujit-targets NAMESPACE hstujit:: DESTINATION ${package_dir})
configure_package_config_file(tools/packaging/hstujit-config.cmake.in hstujit-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change structs.
write_basic_package_version_file(hstujit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hstujit-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/hstujit-config-version.cmake
        DESTINATION ${package_dir})
configure_file(tools/packaging/hstujit.pc.in hstujit.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hstujit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CPack)
