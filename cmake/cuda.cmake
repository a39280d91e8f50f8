# SPDX-License-Identifier: Apache-2.0
# Finds the CUDA compiler and the static runtime, and sets the options of .cu files. Sets FANIN_STATUS_CUDA for the
# summary, and FANIN_HAS_CUDA. The configuration needs no driver and no device.

# FANIN_HAS_REFERENCES and FANIN_HAS_LADDER say whether this is built with CUDA and not left out.
foreach(part CUDA REFERENCES LADDER)
  set(FANIN_HAS_${part} FALSE)
endforeach()
if(FANIN_CUDA STREQUAL "OFF")
  set(FANIN_STATUS_CUDA "no: FANIN_CUDA=OFF")
  return()
endif()

set(remedy "CUDA Toolkit 13 (12.6 or newer) with nvcc in PATH or -DCMAKE_CUDA_COMPILER=/path/to/nvcc")
include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(FANIN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FANIN_CUDA=ON, but no CUDA compiler was found. Install the ${remedy}. "
                        "To go on without: -DFANIN_CUDA=OFF")
  endif()
  set(FANIN_STATUS_CUDA "no: no CUDA compiler found (install the ${remedy})")
  return()
endif()

# Device code takes most of the build's time, once for each architecture. By default it is built for the devices of
# this machine, or for sm_90 if it has none. Newer devices translate the PTX when they first run it; for older
# devices, set -DCMAKE_CUDA_ARCHITECTURES="75-virtual;90", which serves every device from sm_75 on.
# CUB of CUDA 12.4 lacks DeviceReduce::TransformReduce. With nvcc 12 itself this was not tried: the
# sources were compiled by nvcc 13 with the CUB and Thrust of CUDA 12.6.
if(FANIN_CUDA_CHECK_ONLY)
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
  enable_language(CUDA)
elseif(DEFINED CMAKE_CUDA_ARCHITECTURES)
  enable_language(CUDA)
else()
  set(CMAKE_CUDA_ARCHITECTURES 90)
  enable_language(CUDA)
  if(CMAKE_CUDA_ARCHITECTURES_NATIVE)
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES_NATIVE REPLACE "-real" "" OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES} CACHE STRING "What device code is built for" FORCE)
endif()
find_package(CUDAToolkit QUIET GLOBAL)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.6 OR NOT TARGET CUDA::cudart_static)
  if(FANIN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FANIN_CUDA=ON, but nvcc is ${CMAKE_CUDA_COMPILER_VERSION} or its static runtime is missing. "
                        "Install the ${remedy}. To go on without: -DFANIN_CUDA=OFF")
  endif()
  set(FANIN_STATUS_CUDA "no: nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old or has no static runtime (install the ${remedy})")
  return()
endif()

set(FANIN_HAS_CUDA TRUE)
set(FANIN_HAS_REFERENCES ${FANIN_REFERENCES})
set(FANIN_HAS_LADDER ${FANIN_LADDER})
list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
set(FANIN_STATUS_CUDA "yes: nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${architectures}")
if(FANIN_CUDA_CHECK_ONLY)
  string(APPEND FANIN_STATUS_CUDA ", without optimisation: for its errors alone")
endif()

if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know that nvcc has C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # CUDA::cudart_static is linked explicitly, and libcuda never
# The level of nvcc's own option -O is that of host code, and no other option overrules it. Host code in .cu files
# launches kernels: small code is two fifths as long as that of -O3, and device code is the same.
string(REGEX REPLACE "-O[0-3]" "-Xcompiler=-Os" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")

# Contraction is off for the same reason as on the host; diagnostic 186 is `x < 0` in templates of unsigned types.
# Compressed device code is a third as long. nvcc 13 compresses better, in a format that every driver which runs its
# programs reads; drivers before that of CUDA 12.4 do not. nvcc 13 also leaves out optimisations of device code.
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  set(compression --compress-mode=size)
  set(FANIN_CUDA_UNOPTIMISED -Ofc max)
else()
  set(compression -Xfatbin=-compress-all)
  set(FANIN_CUDA_UNOPTIMISED)
endif()
set(FANIN_CUDA_FLAGS --expt-relaxed-constexpr -fmad=false -diag-suppress=186 ${compression} -Xcompiler=-ffp-contract=off,-Wall,-Wextra)
if(FANIN_CUDA_CHECK_ONLY)
  list(REMOVE_ITEM FANIN_CUDA_FLAGS ${compression})
  list(APPEND FANIN_CUDA_FLAGS ${FANIN_CUDA_UNOPTIMISED})
endif()

# fanin_cuda_sources(target unit source...): .cu files of the target. Reading their headers takes up to 15 s a file, and
# so one unit of the given name includes all of them where device code is only checked. Names in their anonymous
# namespaces must differ. The full ring, whose device code is optimised, compiles each file alone.
function(fanin_cuda_sources target unit)
  if(NOT FANIN_CUDA_CHECK_ONLY)
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  fanin_write_unit(${CMAKE_CURRENT_BINARY_DIR}/${unit}.cu ${ARGN})
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${unit}.cu)
endfunction()

# Writes a file that includes the sources of this folder.
function(fanin_write_unit file)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"\n" OUTPUT_VARIABLE lines)
  list(JOIN lines "" text)
  file(GENERATE OUTPUT ${file} CONTENT "${text}")
endfunction()

# fanin_include_cuda(target source...): these C++ sources of the target include headers of CUDA. All other objects are the
# same in a build without CUDA, so that a folder in which one follows the other compiles them once.
function(fanin_include_cuda target)
  list(TRANSFORM CUDAToolkit_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE folders)
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS ${folders})
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
