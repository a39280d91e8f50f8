# SPDX-License-Identifier: Apache-2.0
# MPFR ships no package file of its own. Defines MPFR::MPFR.
find_path(MPFR_INCLUDE_DIR mpfr.h)
find_library(MPFR_LIBRARY mpfr)
find_library(MPFR_GMP_LIBRARY gmp)
mark_as_advanced(MPFR_INCLUDE_DIR MPFR_LIBRARY MPFR_GMP_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPFR REQUIRED_VARS MPFR_LIBRARY MPFR_GMP_LIBRARY MPFR_INCLUDE_DIR)

if(MPFR_FOUND AND NOT TARGET MPFR::MPFR)
  add_library(MPFR::MPFR UNKNOWN IMPORTED GLOBAL)
  set_target_properties(MPFR::MPFR PROPERTIES IMPORTED_LOCATION "${MPFR_LIBRARY}"
                                              INTERFACE_INCLUDE_DIRECTORIES "${MPFR_INCLUDE_DIR}"
                                              INTERFACE_LINK_LIBRARIES "${MPFR_GMP_LIBRARY}")
endif()
