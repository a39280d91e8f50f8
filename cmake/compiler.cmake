# SPDX-License-Identifier: Apache-2.0
# Settings for every compiled file. Warnings and sanitizers are set by the presets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# The error bounds are proved for code with a rounding after each operation: a contracted a * b + c has one rounding
# less.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

# What is built here for use reads files that others wrote: overruns of buffers on the stack end the program, the
# library checks the sizes that the compiler knows, and addresses of functions are read-only once the program runs.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MSVC AND NOT APPLE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>)
  add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:_FORTIFY_SOURCE=2>)
  add_link_options(LINKER:-z,relro,-z,now)
endif()

# g++ collects garbage from at most 128 MiB on. Without that, units of many files take 8 to 20 % less time, and a
# quarter more memory: 2.6 GB is the most.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1200000>)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Every SIMD loop is compiled once for each of Highway's instruction sets; SSSE3 and AVX3_DL would not make them
# faster. The fallback is EMU128 with g++ before 12.3 too: Highway avoids it there because that compiler miscompiles
# high halves of products (its bug 106322), which no loop here uses.
set(unused_sets HWY_SSSE3 HWY_AVX3_DL)
# x86-64 has no fallback: emulated vectors took as long to compile as two other instruction sets, for processors from
# before 2011. cpu_backend::probe() refuses such processors.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(least_set "HWY_SSE4|HWY_BASELINE_AVX2|HWY_BASELINE_AVX3")
  if(FANIN_NATIVE)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null OUTPUT_VARIABLE macros
                    COMMAND_ERROR_IS_FATAL ANY)
    set(least_set HWY_SSE4)
    if(macros MATCHES __AVX2__ AND macros MATCHES __FMA__ AND macros MATCHES __BMI2__ AND macros MATCHES __F16C__)
      set(least_set HWY_AVX2)
    endif()
    if(macros MATCHES __AVX512BW__ AND macros MATCHES __AVX512CD__ AND macros MATCHES __AVX512DQ__ AND macros MATCHES __AVX512VL__)
      set(least_set HWY_AVX3)
    endif()
    list(APPEND unused_sets HWY_SSE4 HWY_AVX2 HWY_AVX3)
    list(REMOVE_ITEM unused_sets ${least_set})
    add_compile_definitions(HWY_COMPILE_ONLY_STATIC)  # newer versions of Highway have more sets than those above
    set(FANIN_ONE_INSTRUCTION_SET ON)
  endif()
  add_compile_definitions("HWY_BASELINE_TARGETS=(${least_set})")
endif()
list(JOIN unused_sets "|" unused_sets)
add_compile_definitions("HWY_DISABLED_TARGETS=(${unused_sets})" HWY_BROKEN_EMU128=0)

# fanin_precompile(target [header...]): each C++ file of the target begins with base/precompiled.hpp and the headers,
# which are compiled once. In the preset `dev` each file has to compile alone, without such headers.
function(fanin_precompile target)
  if(PROJECT_IS_TOP_LEVEL)
    foreach(header ${PROJECT_SOURCE_DIR}/base/precompiled.hpp ${ARGN})
      string(REPLACE ">" "$<ANGLE-R>" header ${header})
      target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
    endforeach()
  endif()
endfunction()
