# SPDX-License-Identifier: Apache-2.0
# Finds the dependencies, or says how to install them. Nothing is downloaded.

list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

# fanin_require(package debian_package what_needs_it [find_package arguments]): stops if the package is not found, and
# names the Debian package to install.
macro(fanin_require package debian_package what)
  find_package(${package} QUIET GLOBAL ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${what} needs ${package}, which was not found. "
                        "On Debian: apt-get install ${debian_package}")
  endif()
endmacro()

# fanin_find_backend(TBB package debian_package [find_package arguments]): sets FANIN_HAS_TBB, and FANIN_STATUS_TBB
# for the summary.
macro(fanin_find_backend name package debian_package)
  set(FANIN_HAS_${name} FALSE)
  if(FANIN_${name} STREQUAL "OFF")
    set(FANIN_STATUS_${name} "no: FANIN_${name}=OFF")
  else()
    find_package(${package} QUIET GLOBAL ${ARGN})
    if(${package}_FOUND)
      set(FANIN_HAS_${name} TRUE)
      set(FANIN_STATUS_${name} "yes: ${package} ${${package}_VERSION}${${package}_CXX_VERSION}")
      string(JOIN " " arguments ${package} ${ARGN})
      string(APPEND FANIN_FIND_DEPENDENCIES "find_dependency(${arguments})\n")
    elseif(FANIN_${name} STREQUAL "ON")
      message(FATAL_ERROR "FANIN_${name}=ON, but ${package} was not found. "
                          "On Debian: apt-get install ${debian_package}. To go on without: -DFANIN_${name}=OFF")
    else()
      set(FANIN_STATUS_${name} "no: ${package} not found (on Debian: apt-get install ${debian_package})")
    endif()
  endif()
endmacro()

fanin_require(hwy libhwy-dev "The library" CONFIG)
set(FANIN_FIND_DEPENDENCIES "find_dependency(hwy CONFIG)\n")

fanin_find_backend(OPENMP OpenMP g++ COMPONENTS CXX)
fanin_find_backend(TBB TBB libtbb-dev CONFIG)

if(FANIN_CLI)  # FANIN_BENCH needs it
  fanin_require(Threads libc6-dev "Measuring the read ceiling")
endif()
if(FANIN_CLI)
  fanin_require(CLI11 libcli11-dev "FANIN_CLI=ON" CONFIG)
  fanin_require(fmt libfmt-dev "FANIN_CLI=ON" CONFIG)
  fanin_require(nlohmann_json nlohmann-json3-dev "FANIN_CLI=ON" CONFIG)
  fanin_require(LibZip libzip-dev "FANIN_CLI=ON" MODULE)
  fanin_require(ZLIB zlib1g-dev "FANIN_CLI=ON" MODULE)
  fanin_require(Zstd libzstd-dev "FANIN_CLI=ON" MODULE)
endif()
if(FANIN_TESTS)
  fanin_require(doctest doctest-dev "FANIN_TESTS=ON" CONFIG)
  fanin_require(MPFR libmpfr-dev "FANIN_TESTS=ON" MODULE)
endif()
if(FANIN_BENCH)
  fanin_require(Eigen3 libeigen3-dev "FANIN_BENCH=ON" CONFIG)
endif()
