# SPDX-License-Identifier: Apache-2.0
# Prints the configuration at the end.

get_target_property(library_type fanin TYPE)
message(STATUS "fanin ${PROJECT_VERSION}: ${library_type}, ${CMAKE_BUILD_TYPE}, "
               "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
message(STATUS "  backend serial   yes")
message(STATUS "  backend cuda     ${FANIN_STATUS_CUDA}; the ladder ${FANIN_HAS_LADDER}")
foreach(backend cub thrust)
  string(SUBSTRING "${backend}     " 0 8 backend)
  message(STATUS "  backend ${backend} ${FANIN_HAS_REFERENCES}")
endforeach()
message(STATUS "  backend openmp   ${FANIN_STATUS_OPENMP}")
message(STATUS "  backend tbb      ${FANIN_STATUS_TBB}")
list(JOIN FANIN_MPIS ", " mpis)
if(NOT mpis)
  set(mpis "no: none was found (on Debian: apt-get install openmpi-bin libopenmpi-dev)")
endif()
message(STATUS "  MPI              ${mpis}")
message(STATUS "  command ${FANIN_CLI}, tests ${FANIN_TESTS}, examples ${FANIN_EXAMPLES}, benchmarks ${FANIN_BENCH}")
