# SPDX-License-Identifier: Apache-2.0
# Runs after a test executable is built: lists its suites and writes one add_test for each to `output`. Test cases
# outside of any suite share one entry. The suites in the list `full` belong to the full ring. A conformance suite of one of
# `backends` fails if that backend is not usable.
cmake_minimum_required(VERSION 3.25)

function(ask out)
  execute_process(COMMAND ${executable} --no-colors=true ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\\[doctest\\][^\n]*\n|=+\n" "" text "${text}")
  string(REGEX MATCHALL "[^\n]+" lines "${text}")
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# A suite that runs no test case fails. If every test case of a suite is skipped on this machine, the suite exits with 77.
function(add_suite name filter)
  set(alone OFF)
  set(labels ${label})
  string(REPLACE "--test-suite=" "" suite ${filter})
  if(suite IN_LIST full OR full STREQUAL "ALL")
    list(APPEND labels full)
  endif()
  # The memory has room for one suite over 4 GiB at a time.
  if(name MATCHES "over_4_gib")
    set(alone ON)
  endif()
  # OpenMP's threads sleep while they wait. Tests ask for more threads than there are cores.
  file(APPEND ${output} "add_test([[${name}]] [[${executable}]] --no-colors=true [[${filter}]])\n"
                        "set_tests_properties([[${name}]] PROPERTIES LABELS \"${labels}\" TIMEOUT ${timeout} "
                        "RUN_SERIAL ${alone} ENVIRONMENT_MODIFICATION "
                        "\"FANIN_REQUIRE_BACKENDS=string_prepend:${backends},;OMP_WAIT_POLICY=set:passive\" "
                        "FAIL_REGULAR_EXPRESSION [[test cases: +0 ]] SKIP_RETURN_CODE 77)\n")
endfunction()

file(WRITE ${output} "")
ask(suites --list-test-suites)
foreach(suite IN LISTS suites)
  if(suite MATCHES "^${label}")
    add_suite("${suite}" "--test-suite=${suite}")
  else()
    add_suite("${label}/${suite}" "--test-suite=${suite}")
  endif()
endforeach()
ask(others --list-test-cases "--test-suite-exclude=?*")
if(others)
  add_suite(${label}/others "--test-suite-exclude=?*")
endif()
