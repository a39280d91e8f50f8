# SPDX-License-Identifier: Apache-2.0
# fanin_add_suites(target LABEL label TIMEOUT seconds FULL suite...): one ctest entry for each doctest suite of an
# executable. Each build lists the suites that the executable contains (list_suites.cmake). The suites after FULL belong to
# the full ring; FULL ALL means the executable and all of its suites.
function(fanin_add_suites target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "FULL")
  set(backends serial)
  foreach(backend OPENMP TBB)
    if(FANIN_HAS_${backend})
      string(TOLOWER ",${backend}" name)
      string(APPEND backends ${name})
    endif()
  endforeach()
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    COMMAND ${CMAKE_COMMAND} -D executable=$<TARGET_FILE:${target}> -D label=${arg_LABEL} -D timeout=${arg_TIMEOUT} -D
            "full=${arg_FULL}" -D backends=${backends} -D output=${suites} -P ${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake
    BYPRODUCTS ${suites}
    VERBATIM)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake)
  set(labels ${arg_LABEL})
  if(arg_FULL STREQUAL "ALL")
    list(APPEND labels full)
    fanin_full_ring(TARGETS ${target})
  endif()
  set(entry ${CMAKE_CURRENT_BINARY_DIR}/${target}_entry.cmake)
  file(WRITE ${entry} "if(EXISTS \"${suites}\")\n  include(\"${suites}\")\nelse()\n"
                      "  add_test(${target}_not_built ${target}_not_built)\n"
                      "  set_tests_properties(${target}_not_built PROPERTIES LABELS \"${labels}\")\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${entry})
endfunction()

# fanin_add_skipped_test(name why): a test that CTest reports as skipped, in place of one whose tool was not found.
function(fanin_add_skipped_test name why)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "fanin: skipped: ${why}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "fanin: skipped: ")
endfunction()
