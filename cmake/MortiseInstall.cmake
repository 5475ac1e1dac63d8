# What `cmake --install` puts down: the library, those for tests, the console and the door, the
# public headers of all, a package for find_package, one for pkg-config, the program with its manual
# pages and completions. Components: `library`, what a program needs that was built with the shared
# library; `development`; `program`.
include(CMakePackageConfigHelpers)

set(mortise_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mortise)

install(TARGETS mortise mortise_testing EXPORT mortiseTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  FILE_SET HEADERS COMPONENT development)
if(MORTISE_CONSOLE)
  install(TARGETS mortise_console EXPORT mortiseTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    FILE_SET HEADERS COMPONENT development)
endif()
if(MORTISE_HTTP)
  install(TARGETS mortise_http_door EXPORT mortiseTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    FILE_SET HEADERS COMPONENT development)
endif()
install(EXPORT mortiseTargets NAMESPACE mortise:: DESTINATION ${mortise_package_dir}
  COMPONENT development)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/mortiseConfig.cmake.in ${PROJECT_BINARY_DIR}/mortiseConfig.cmake
  INSTALL_DESTINATION ${mortise_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mortiseConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/mortiseConfig.cmake ${PROJECT_BINARY_DIR}/mortiseConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindAsio.cmake
  DESTINATION ${mortise_package_dir} COMPONENT development)

# For pkg-config. A static library needs what it is made of; which pkg-config gives only to who asks
# for it, if it stands in Libs.private.
set(mortise_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH mortise_pc_prefix
  ${CMAKE_INSTALL_PREFIX}/${mortise_pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" mortise_pc_prefix "${mortise_pc_prefix}")
set(mortise_pc_libs "")
if(NOT BUILD_SHARED_LIBS)
  string(CONCAT mortise_pc_libs
    " -lrocksdb -lcapnp-rpc -lcapnp -lkj-async -lkj -lssl -lcrypto -lspdlog -lfmt -ltomlplusplus"
    " -lstdc++ -lpthread -ldl -lm")
endif()
configure_file(cmake/mortise.pc.in ${PROJECT_BINARY_DIR}/mortise.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mortise.pc DESTINATION ${mortise_pc_dir} COMPONENT development)

# The manual pages and the completions of shells, as the program prints them.
if(MORTISE_BUILD_TOOLS AND NOT CMAKE_CROSSCOMPILING)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\"
    \"-DPROGRAM=$<TARGET_FILE:mortise_cli>\" \"-DPREFIX=\${CMAKE_INSTALL_PREFIX}\"
    \"-DMANUAL=${CMAKE_INSTALL_MANDIR}\" \"-DDATA=${CMAKE_INSTALL_DATADIR}\"
    -P \"${PROJECT_SOURCE_DIR}/cmake/install_pages.cmake\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
endif()
