# Standalone Asio, headers only; Debian's libasio-dev has no package of its own for CMake.
# Gives the target Asio::asio, and Asio_VERSION.
find_path(Asio_INCLUDE_DIR asio.hpp)
mark_as_advanced(Asio_INCLUDE_DIR)

if(Asio_INCLUDE_DIR AND EXISTS "${Asio_INCLUDE_DIR}/asio/version.hpp")
  file(STRINGS "${Asio_INCLUDE_DIR}/asio/version.hpp" asio_version_line
    REGEX "^#define ASIO_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" Asio_VERSION_NUMBER "${asio_version_line}")
  if(Asio_VERSION_NUMBER)
    math(EXPR asio_major "${Asio_VERSION_NUMBER} / 100000")
    math(EXPR asio_minor "${Asio_VERSION_NUMBER} / 100 % 1000")
    math(EXPR asio_patch "${Asio_VERSION_NUMBER} % 100")
    set(Asio_VERSION "${asio_major}.${asio_minor}.${asio_patch}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio
  REQUIRED_VARS Asio_INCLUDE_DIR VERSION_VAR Asio_VERSION)

if(Asio_FOUND AND NOT TARGET Asio::asio)
  find_package(Threads REQUIRED)
  add_library(Asio::asio INTERFACE IMPORTED)
  set_target_properties(Asio::asio PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Asio_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
