# The headers of a CUDA toolkit, all that a build needs of one: HSTUJIT_CUDA_INCLUDE_DIR. CMake's FindCUDAToolkit is not
# asked: it wants each library of the toolkit, and that of CMake 3.25 stops at CUDA 13, which has no nvToolsExt.
#   hstujit_find_cuda_headers(<least version, as CUDA_VERSION in cuda.h has it>)
function(hstujit_find_cuda_headers least)
  find_program(HSTUJIT_NVCC nvcc)
  mark_as_advanced(HSTUJIT_NVCC)
  set(beside_nvcc "")
  if(HSTUJIT_NVCC)
    file(REAL_PATH ${HSTUJIT_NVCC} nvcc)
    cmake_path(GET nvcc PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH beside_nvcc)
  endif()
  find_path(HSTUJIT_CUDA_INCLUDE_DIR nvrtc.h
            HINTS ${CUDAToolkit_ROOT} ENV CUDA_HOME ENV CUDA_PATH ${beside_nvcc}
            PATHS /usr/local/cuda /opt/cuda
            PATH_SUFFIXES include targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include
            DOC "Folder of cuda.h and nvrtc.h")
  if(NOT HSTUJIT_CUDA_INCLUDE_DIR OR NOT EXISTS ${HSTUJIT_CUDA_INCLUDE_DIR}/cuda.h)
    message(FATAL_ERROR "No headers of a CUDA toolkit (cuda.h, nvrtc.h): install CUDA 12.8 or newer, or set CUDA_HOME or "
                        "-DCUDAToolkit_ROOT to it.")
  endif()
  file(STRINGS ${HSTUJIT_CUDA_INCLUDE_DIR}/cuda.h line REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${line}")
  if(NOT version GREATER_EQUAL ${least})
    message(FATAL_ERROR "${HSTUJIT_CUDA_INCLUDE_DIR} has CUDA_VERSION ${version}, ${least} or newer is needed: set CUDA_HOME or "
                        "-DCUDAToolkit_ROOT to such a toolkit and -UHSTUJIT_CUDA_INCLUDE_DIR.")
  endif()
endfunction()
