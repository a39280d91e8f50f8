# SPDX-License-Identifier: Apache-2.0
# The package that find_package(fanin) finds. The command's own files are installed in cli/.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fanin)

install(TARGETS fanin EXPORT fanin)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(EXPORT fanin NAMESPACE fanin:: FILE fanin-targets.cmake DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fanin-config.cmake.in ${PROJECT_BINARY_DIR}/fanin-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fanin-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fanin-config.cmake ${PROJECT_BINARY_DIR}/fanin-config-version.cmake
        DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)
