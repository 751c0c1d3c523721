# Records the ABI of the headers, for a change of them that is meant: docs/abi.md, "Adding a member".
# Usage: cmake -DABIDW=... -DRECORD=... -DSTUB=... -P record_abi.cmake
execute_process(COMMAND ${ABIDW} --no-comp-dir-path --no-corpus-path --no-show-locs --out-file ${RECORD} ${STUB}
                COMMAND_ERROR_IS_FATAL ANY)
file(READ ${RECORD} text)
string(REGEX REPLACE "path='/[^']*/(tests/packaging/abi_stub\\.c)'" "path='\\1'" text "${text}")  # of the machine that recorded it
file(WRITE ${RECORD} "${text}")
