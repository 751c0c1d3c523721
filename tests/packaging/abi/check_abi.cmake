# Fails when a host built against the recorded headers would break. New functions are no break. After a change that is
# meant, with a new SOVERSION once there are releases, record it anew by the command that the message names.
# Usage: cmake -DABIDIFF=... -DRECORD=... -DSTUB=... -DBUILD=... -P check_abi.cmake
foreach(file IN ITEMS "${RECORD}" "${STUB}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "\"${file}\" is not there")
  endif()
endforeach()
file(STRINGS ${RECORD} placed REGEX "path='/")
if(placed)
  message(FATAL_ERROR "${RECORD} has a path of the machine that recorded it: ${placed}\nRecord it by the target record_abi")
endif()
execute_process(COMMAND ${ABIDIFF} --no-added-syms ${RECORD} ${STUB} RESULT_VARIABLE result OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the ABI is not the recorded one (abidiff says ${result}):\n${output}\n"
                      "If that is meant, docs/abi.md says what else to do; record it: cmake --build ${BUILD} --target record_abi")
endif()
