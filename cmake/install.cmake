# SPDX-License-Identifier: Apache-2.0
# The package that find_package(fanin) and pkg-config find. The command's own files are installed in cli/.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fanin)

install(TARGETS fanin EXPORT fanin)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cuh")
install(EXPORT fanin NAMESPACE fanin:: FILE fanin-targets.cmake DESTINATION ${package_dir})

# A static library leaves its dependencies to whoever links it. It brings the CUDA runtime along, so that nobody else
# needs the toolkit; a shared library contains it.
set(cudart "")
set(libraries "")
if(BUILD_SHARED_LIBS)
  set(FANIN_FIND_DEPENDENCIES "")
else()
  set(libraries -lhwy)
  if(FANIN_HAS_OPENMP)
    list(APPEND libraries ${OpenMP_CXX_FLAGS})
  endif()
  if(FANIN_HAS_TBB)
    list(APPEND libraries -ltbb)
  endif()
  if(FANIN_HAS_CUDA)
    get_target_property(runtime CUDA::cudart_static IMPORTED_LOCATION)
    install(FILES ${runtime} DESTINATION ${CMAKE_INSTALL_LIBDIR}/fanin)
    set(cudart ${CMAKE_INSTALL_LIBDIR}/fanin/libcudart_static.a)
    if(NOT IS_ABSOLUTE "${cudart}")
      string(PREPEND cudart [[${PACKAGE_PREFIX_DIR}/]])
    endif()
    list(APPEND libraries [[${libdir}/fanin/libcudart_static.a]] -lpthread -ldl -lrt)
  endif()
  list(JOIN libraries " " libraries)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fanin-config.cmake.in ${PROJECT_BINARY_DIR}/fanin-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fanin-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fanin-config.cmake ${PROJECT_BINARY_DIR}/fanin-config-version.cmake
        DESTINATION ${package_dir})

# If CMAKE_INSTALL_LIBDIR is relative, fanin.pc finds the prefix from its own place: an installation can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(PREPEND pc_prefix [[${pcfiledir}/]])
endif()
foreach(folder LIBDIR INCLUDEDIR)
  set(pc_${folder} ${CMAKE_INSTALL_${folder}})
  if(NOT IS_ABSOLUTE "${pc_${folder}}")
    string(PREPEND pc_${folder} [[${prefix}/]])
  endif()
endforeach()
configure_file(cmake/fanin.pc.in fanin.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fanin.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)
