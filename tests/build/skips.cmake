# SPDX-License-Identifier: Apache-2.0
# Whether CTest reports a suite as passed, skipped or failed as its exit status says, whatever else the suite prints.
# usage: cmake -D ctest=CTEST -D list_suites=list_suites.cmake -D folder=SCRATCH -P skips.cmake
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
# A test executable with three suites. Each suite prints that a test case was skipped.
file(WRITE ${folder}/suites.sh [[
#!/bin/sh
case $* in
*--list-test-suites*) printf 'passes\nskips\nfails\n' ;;
*--list-test-cases*) ;;
*) echo 'fanin: skipped: a reason'; echo 'test cases: 2 | '
   case $* in *passes) exit 0 ;; *skips) exit 77 ;; *fails) exit 1 ;; esac ;;
esac
]])
file(CHMOD ${folder}/suites.sh PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
execute_process(COMMAND ${CMAKE_COMMAND} -D executable=${folder}/suites.sh -D label=stub -D timeout=10 -D backends=serial
                        -D output=${folder}/CTestTestfile.cmake -P ${list_suites} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${ctest} WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE report RESULT_VARIABLE failed)
if(NOT failed)
  message(FATAL_ERROR "ctest accepts a suite that fails:\n${report}")
endif()
foreach(expected "stub/passes [.]+ +Passed" "stub/skips [.]+[*]+Skipped" "stub/fails [.]+[*]+Failed")
  if(NOT report MATCHES "${expected}")
    message(FATAL_ERROR "expected ${expected} in\n${report}")
  endif()
endforeach()
