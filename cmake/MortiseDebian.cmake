# The Debian packages, made by `cpack` in a build with BUILD_SHARED_LIBS: libmortise0 (the shared
# library), libmortise-dev, mortise (the program and its service), and -dbgsym of the first and the
# third. packaging/package.py builds them; the prefix has to be /usr.
get_target_property(mortise_soversion mortise SOVERSION)
set(mortise_packages libmortise${mortise_soversion} libmortise-dev mortise)
set(mortise_package_version ${PROJECT_VERSION}-1)
set(mortise_maintainer "Mortise maintainers <maintainers@users.noreply.a-seed-8fa90bdf.example>")
set(debian ${PROJECT_SOURCE_DIR}/packaging/debian)

# The same file in each package; Debian takes the version and the date from it.
string(TIMESTAMP mortise_package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${debian}/changelog.in ${PROJECT_BINARY_DIR}/debian/changelog @ONLY)
find_program(MORTISE_GZIP gzip REQUIRED)
mark_as_advanced(MORTISE_GZIP)
execute_process(COMMAND ${MORTISE_GZIP} -9nf ${PROJECT_BINARY_DIR}/debian/changelog
  COMMAND_ERROR_IS_FATAL ANY)
set(components library development program)
foreach(component package IN ZIP_LISTS components mortise_packages)
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz DESTINATION share/doc/${package}
    COMPONENT ${component} RENAME changelog.Debian.gz)
  install(FILES ${debian}/copyright DESTINATION share/doc/${package} COMPONENT ${component})
  if(EXISTS ${debian}/${component}.lintian-overrides)
    install(FILES ${debian}/${component}.lintian-overrides
      DESTINATION share/lintian/overrides COMPONENT ${component} RENAME ${package})
  endif()
endforeach()

# Symbols for debuggers are apart in the others; here nothing else would remove them.
set(archives libmortise_testing.a)
if(MORTISE_CONSOLE)
  list(APPEND archives libmortise_console.a)
endif()
if(MORTISE_HTTP)
  list(APPEND archives libmortise_http_door.a)
endif()
foreach(archive IN LISTS archives)
  install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/${archive}\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
endforeach()

# The service. Examples for people to adapt; nothing in /etc, so that no file of an operator is ever
# overwritten or asked about.
install(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/mortise.service
  DESTINATION lib/systemd/system COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/three-nodes
  DESTINATION share/doc/mortise/examples COMPONENT program USE_SOURCE_PERMISSIONS)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mortise)
set(CPACK_PACKAGE_VENDOR "Mortise")
set(CPACK_PACKAGE_CONTACT "${mortise_maintainer}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# Each package has a description of its own; its first line is the summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/embed)
set(this_version "(= ${mortise_package_version})")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libmortise${mortise_soversion})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${debian}/triggers)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/drop_ldconfig_scripts.cmake)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "distributed locks - shared library
Mortise is a lock manager that programs embed: each process is a node, and
the nodes of a cluster agree on who holds a lock through a replicated log.
Each grant has a fencing token.

This package has the shared library that programs in C and in other
languages use through mortise.h.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmortise-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libmortise${mortise_soversion} ${this_version}, libasio-dev (>= 1.22)")
# Only who links the console or the door needs it; its header is not included.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "libcpp-httplib-dev (>= 0.11)")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "distributed locks - development files
Mortise is a lock manager that programs embed: each process is a node, and
the nodes of a cluster agree on who holds a lock through a replicated log.

This package has the headers for C and C++, the files for CMake and
pkg-config, and static libraries: one that starts clusters in tests,
one that serves a web page about a node, and one that serves locks with HTTP.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME mortise)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS
  "libmortise${mortise_soversion} ${this_version}, adduser")
set(CPACK_DEBIAN_PROGRAM_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  ${debian}/postinst ${debian}/prerm ${debian}/postrm)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "distributed locks - command line and service
Mortise is a lock manager that programs embed: each process is a node, and
the nodes of a cluster agree on who holds a lock through a replicated log.

This package has the mortise program, which shows and changes clusters,
makes certificates, and runs nodes without an application, with a web page
about them, and a service for systemd that is neither enabled nor started by
the installation.")
include(CPack)
