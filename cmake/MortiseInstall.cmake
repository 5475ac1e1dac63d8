# What `cmake --install` puts down: the library, the one for tests, the public headers of both, a
# package for find_package, the program.
include(CMakePackageConfigHelpers)

set(mortise_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mortise)

install(TARGETS mortise mortise_testing EXPORT mortiseTargets FILE_SET HEADERS)
install(EXPORT mortiseTargets NAMESPACE mortise:: DESTINATION ${mortise_package_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/mortiseConfig.cmake.in ${PROJECT_BINARY_DIR}/mortiseConfig.cmake
  INSTALL_DESTINATION ${mortise_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mortiseConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/mortiseConfig.cmake ${PROJECT_BINARY_DIR}/mortiseConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindAsio.cmake
  DESTINATION ${mortise_package_dir})
