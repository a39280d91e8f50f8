# SPDX-License-Identifier: Apache-2.0
# The MPI implementations that are found: Open MPI and MPICH by their Debian names, else whatever `mpicxx` is. FANIN_MPIS
# lists them; each has a target fanin::NAME, a launcher FANIN_MPIRUN_NAME and, where `mpifort` is found, a target
# fanin::NAME_fortran. The library itself knows nothing of MPI.

set(FANIN_MPI AUTO CACHE STRING "Build the command fanin_mpi and its tests: AUTO, ON or OFF")

# fanin_add_mpi_target(target wrapper [SYSTEM]): the compiler wrapper prints the flags.
function(fanin_add_mpi_target target wrapper)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE shown RESULT_VARIABLE status ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(flags UNIX_COMMAND "${shown}")
  set(folders ${flags})
  list(FILTER folders INCLUDE REGEX "^-I")
  list(TRANSFORM folders REPLACE "^-I" "")
  list(FILTER flags INCLUDE REGEX "^-(L|l|Wl,)")
  list(FILTER flags EXCLUDE REGEX "_cxx$|mpicxx$")  # the C++ bindings, which MPI no longer has
  if(status EQUAL 0 AND flags)
    add_library(fanin::${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(fanin::${target} ${ARGN} INTERFACE ${folders})
    target_compile_definitions(fanin::${target} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_link_libraries(fanin::${target} INTERFACE ${flags})
  endif()
endfunction()

macro(fanin_find_mpi name suffix)
  find_program(FANIN_MPICXX_${name} mpicxx${suffix})
  find_program(FANIN_MPIFORT_${name} mpifort${suffix})
  find_program(FANIN_MPIRUN_${name} mpirun${suffix})
  if(FANIN_MPICXX_${name} AND FANIN_MPIRUN_${name})
    fanin_add_mpi_target(${name} ${FANIN_MPICXX_${name}} SYSTEM)
  endif()
  if(TARGET fanin::${name})
    list(APPEND FANIN_MPIS ${name})
    if(FANIN_MPIFORT_${name})
      fanin_add_mpi_target(${name}_fortran ${FANIN_MPIFORT_${name}})
    endif()
  endif()
endmacro()

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
