# Asio is headers alone, and the linker would merge what the compiler makes of them with what a
# program has of its own Asio, also if that has another version or other settings. So ours has
# another name in all that is installed (decision 0074). The functions are those with the linkage of
# C.
add_library(mortise_own_asio INTERFACE)
target_link_libraries(mortise_own_asio INTERFACE Asio::asio)
target_compile_definitions(mortise_own_asio INTERFACE asio=mortise_asio
  asio_detail_posix_thread_function=mortise_asio_detail_posix_thread_function
  asio_signal_handler=mortise_asio_signal_handler)

# spdlog, fmt and toml++ exist as shared libraries and as headers alone.
#
# A program that links the static library may use spdlog as well; then both take the shared one, so
# that there is one registry of loggers. The shared library of Mortise takes the headers: it shows
# nothing of them, and needs three packages less. So does the static program, because Debian has no
# static libraries of the three.
if(NOT BUILD_SHARED_LIBS AND NOT MORTISE_STATIC_PROGRAM)
  set(mortise_spdlog spdlog::spdlog)
  set(mortise_tomlplusplus tomlplusplus::tomlplusplus)
  return()
endif()

function(mortise_header_only target from)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE
    $<TARGET_PROPERTY:${from},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target} INTERFACE ${ARGN})
endfunction()

mortise_header_only(mortise_spdlog_headers spdlog::spdlog SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY=1)
mortise_header_only(mortise_toml_headers tomlplusplus::tomlplusplus TOML_HEADER_ONLY=1)
# Only the objects see them, never who links the library.
set(mortise_spdlog $<BUILD_INTERFACE:mortise_spdlog_headers>)
set(mortise_tomlplusplus $<BUILD_INTERFACE:mortise_toml_headers>)
