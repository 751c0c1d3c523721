# Installs the build into a folder of its own, builds the consumer against it with find_package and with pkg-config, and
# runs all of it. Usage: see CMakeLists.txt here.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGV}: ${failed}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${CC}
    -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(language c cpp)
  run(${WORK}/build/consumer_${language})
  if(NOT output MATCHES "version 0\\.1\\.0, layer norm of 1 3: -1\\.0+ 1\\.0+\n")
    message(FATAL_ERROR "consumer_${language} prints\n${output}")
  endif()
endforeach()

# pkg-config, with the prefix that the tree was installed to.
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(${PKG_CONFIG} --define-variable=prefix=${prefix} --cflags --libs hstujit)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${CC} -std=c99 -Wall -Wextra -Werror ${SOURCE}/main.c -o ${WORK}/by_pkg_config ${flags} -Wl,-rpath,${prefix}/${LIBDIR})
run(${WORK}/by_pkg_config)

run(${prefix}/bin/hstu-tune --version)
run(${prefix}/bin/hstu-tune ops)
foreach(file share/doc/hstujit/LICENSE share/hstujit/workloads/dlrm_v3.json include/hstujit/hstujit.h ${LIBDIR}/libhstujit.so.0)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
