# SPDX-License-Identifier: Apache-2.0
# The MPI implementations that are found: Open MPI and MPICH by their Debian names, else whatever `mpicxx` is. FANIN_MPIS
# lists them; each has a target fanin::NAME and a launcher FANIN_MPIRUN_NAME. The library itself knows nothing of MPI.

set(FANIN_MPI AUTO CACHE STRING "Build the command fanin_mpi and its tests: AUTO, ON or OFF")

# fanin_find_mpi(name suffix): the compiler wrapper prints the flags.
function(fanin_find_mpi name suffix)
  find_program(FANIN_MPICXX_${name} mpicxx${suffix})
  find_program(FANIN_MPIRUN_${name} mpirun${suffix})
  if(NOT FANIN_MPICXX_${name} OR NOT FANIN_MPIRUN_${name})
    return()
  endif()
  execute_process(COMMAND ${FANIN_MPICXX_${name}} -show OUTPUT_VARIABLE shown RESULT_VARIABLE status ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(flags UNIX_COMMAND "${shown}")
  set(include_flags ${flags})
  list(FILTER include_flags INCLUDE REGEX "^-I")
  list(FILTER flags INCLUDE REGEX "^-(L|l|Wl,)")
  list(FILTER flags EXCLUDE REGEX "flto|_cxx$|mpicxx$")  # of the C++ bindings that MPI no longer has
  if(NOT status EQUAL 0 OR NOT flags)
    return()
  endif()
  list(TRANSFORM include_flags REPLACE "^-I" "")
  add_library(fanin::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(fanin::${name} SYSTEM INTERFACE ${include_flags})
  target_compile_definitions(fanin::${name} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(fanin::${name} INTERFACE ${flags})
  set(FANIN_MPIS ${FANIN_MPIS} ${name} PARENT_SCOPE)
endfunction()

set(FANIN_MPIS "")
if(NOT FANIN_MPI STREQUAL "OFF")
  fanin_find_mpi(openmpi .openmpi)
  fanin_find_mpi(mpich .mpich)
  if(NOT FANIN_MPIS)
    fanin_find_mpi(mpi "")
  endif()
  if(FANIN_MPI STREQUAL "ON" AND NOT FANIN_MPIS)
    message(FATAL_ERROR "FANIN_MPI=ON, but no MPI was found. On Debian: apt-get install libopenmpi-dev openmpi-bin")
  endif()
endif()
