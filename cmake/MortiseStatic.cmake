# The mortise program as one file that needs no shared library, not even that of C: mortise_static.
# Included by tools/CMakeLists.txt. Its own objects are those of the other program, but those of the
# console and the door: Debian has cpp-httplib as a shared library alone.
set(mortise_archives)
foreach(name IN ITEMS rocksdb snappy lz4 zstd z bz2 gflags capnp-rpc capnp kj-async kj ssl crypto)
  find_library(MORTISE_ARCHIVE_${name} lib${name}.a REQUIRED)
  mark_as_advanced(MORTISE_ARCHIVE_${name})
  list(APPEND mortise_archives ${MORTISE_ARCHIVE_${name}})
endforeach()

add_executable(mortise_static mortise/main.cpp mortise/without_console.cpp
  mortise/without_door.cpp
  $<FILTER:$<TARGET_OBJECTS:mortise_cli_parts>,EXCLUDE,_(console|door)[.]cpp>
  $<TARGET_OBJECTS:mortise_testing> $<TARGET_OBJECTS:mortise_json_form>
  $<TARGET_OBJECTS:mortise_core> $<TARGET_OBJECTS:mortise_driver>
  $<TARGET_OBJECTS:mortise_storage> $<TARGET_OBJECTS:mortise_transport>
  $<TARGET_OBJECTS:mortise_embed>)
target_include_directories(mortise_static PRIVATE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/embed/include)
target_link_libraries(mortise_static PRIVATE mortise_build_flags
  -Wl,--start-group ${mortise_archives} -Wl,--end-group)
# CMake's own -pie would ask for the loader.
set_property(TARGET mortise_static PROPERTY POSITION_INDEPENDENT_CODE)
target_compile_options(mortise_static PRIVATE -fPIE)
# The linker warns that getaddrinfo() and dlopen() want the C library of the build at run time. The
# resolver does so only for sources of names other than files and DNS; dlopen() is for shared
# libraries that hold Mortise, and OpenSSL's for engines.
target_link_options(mortise_static PRIVATE -static-pie LINKER:--gc-sections LINKER:--no-warnings)
set_target_properties(mortise_static PROPERTIES
  OUTPUT_NAME mortise RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/static/bin)
