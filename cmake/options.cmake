# SPDX-License-Identifier: Apache-2.0
# The options of the configuration and their defaults.

# fanin_backend_option(TBB AUTO): defines FANIN_TBB. AUTO builds the backend if its dependencies are found, ON stops
# if they are not, OFF leaves the backend out.
function(fanin_backend_option name default)
  set(FANIN_${name} ${default} CACHE STRING "Build this backend: AUTO, ON or OFF")
  set_property(CACHE FANIN_${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT FANIN_${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "FANIN_${name} is '${FANIN_${name}}'; it must be AUTO, ON or OFF.")
  endif()
endfunction()

fanin_backend_option(CUDA AUTO)
fanin_backend_option(OPENMP AUTO)
fanin_backend_option(TBB AUTO)

option(FANIN_CUDA_CHECK_ONLY "Compile device code fast, for its errors alone: it is too slow to be used" OFF)
option(FANIN_NATIVE "Compile SIMD loops for this machine's processor alone, which is faster; of x86-64" OFF)
option(FANIN_REFERENCES "Build the backends cub and thrust, with which cuda is compared" ON)
option(FANIN_LADDER "Build the ladder's stages as variants of cuda, and the command's ladder and lab" ON)

option(FANIN_CLI "Build the command" ${PROJECT_IS_TOP_LEVEL})
set(with_command OFF)
if(PROJECT_IS_TOP_LEVEL AND FANIN_CLI)
  set(with_command ON)
endif()
option(FANIN_TESTS "Build the tests; needs FANIN_CLI" ${with_command})
option(FANIN_EXAMPLES "Build the examples and run them as tests" ${FANIN_TESTS})
option(FANIN_BENCH "Define the benchmarks, which the target fanin_full builds; needs FANIN_CLI" ${FANIN_TESTS})
option(FANIN_INSTALL "Define the install rules" ${PROJECT_IS_TOP_LEVEL})
option(BUILD_SHARED_LIBS "Build a shared library instead of a static one" OFF)

if(FANIN_TESTS AND NOT FANIN_CLI)
  message(FATAL_ERROR "FANIN_TESTS=ON tests the command too: configure with -DFANIN_CLI=ON or -DFANIN_TESTS=OFF.")
endif()
if(FANIN_BENCH AND NOT FANIN_CLI)
  message(FATAL_ERROR "FANIN_BENCH=ON takes its data from the command: configure with -DFANIN_CLI=ON or "
                      "-DFANIN_BENCH=OFF.")
endif()

# Up to 64 sources of a target are compiled as one; the command then compiles in two fifths of the time. The library says
# which of its sources are.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 64)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
