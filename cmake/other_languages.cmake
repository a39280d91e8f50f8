# SPDX-License-Identifier: Apache-2.0
# Enables C and Fortran where a compiler for them is found: tests and examples of the C interface are written in them.
include(CheckLanguage)
foreach(language C Fortran)
  check_language(${language})
  if(CMAKE_${language}_COMPILER)
    enable_language(${language})
  endif()
endforeach()
