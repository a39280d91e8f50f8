# SPDX-License-Identifier: Apache-2.0
# The two rings of tests. The quick ring is what the target `all` builds and every test without the label `full`. The full
# ring is the quick ring, what the target fanin_full builds, and the tests with that label.
add_custom_target(fanin_full)

# fanin_full_ring(TARGETS target... TESTS test...): takes targets and tests of this folder out of the quick ring.
function(fanin_full_ring)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TARGETS;TESTS")
  if(arg_TARGETS)
    set_target_properties(${arg_TARGETS} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(fanin_full ${arg_TARGETS})
  endif()
  if(arg_TESTS)
    set_property(TEST ${arg_TESTS} APPEND PROPERTY LABELS full)
  endif()
endfunction()
