# Every target is made here, so a flag is set in one place.
include(MortiseMutants)

add_library(mortise_build_flags INTERFACE)
target_compile_features(mortise_build_flags INTERFACE cxx_std_20)
target_compile_options(mortise_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  # g++ 12 cries wolf over every variant that is moved.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<BOOL:${MORTISE_WERROR}>:-Werror>
  # A program that links the static library with --gc-sections leaves out what it does not call.
  $<$<NOT:$<CONFIG:Debug>>:-ffunction-sections> $<$<NOT:$<CONFIG:Debug>>:-fdata-sections>)
if(MORTISE_SANITIZE)
  list(JOIN MORTISE_SANITIZE "," mortise_sanitizers)
  target_compile_options(mortise_build_flags INTERFACE
    -fsanitize=${mortise_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(mortise_build_flags INTERFACE -fsanitize=${mortise_sanitizers})
  if("undefined" IN_LIST MORTISE_SANITIZE)
    # It asks the system for a pipe to look at an object, and without one it calls the object bad;
    # tests bring about that no descriptors are left.
    target_compile_options(mortise_build_flags INTERFACE -fno-sanitize=vptr)
  endif()
  if("thread" IN_LIST MORTISE_SANITIZE)
    # g++ warns of every fence, which its sanitizer does not see. They are all in Asio, which has a
    # mutex beside each.
    target_compile_options(mortise_build_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()

# Messages name a source by its place in the tree, whoever builds it and wherever. So does what is
# for debuggers, but where somebody is about to debug; docs/package.md has how a debugger finds the
# sources. ccache may give the compiler paths that are relative to the build.
file(RELATIVE_PATH mortise_up ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
string(REGEX REPLACE "/$" "" mortise_up "${mortise_up}")
# Of those that fit, g++ takes the last.
set(mortise_folders . ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${mortise_up})
if(MORTISE_MUTANTS)
  list(APPEND mortise_folders ${mortise_woven_dir} woven)
endif()
foreach(folder IN LISTS mortise_folders)
  target_compile_options(mortise_build_flags INTERFACE -fmacro-prefix-map=${folder}/=)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(mortise_build_flags INTERFACE
      $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${folder}=. -ffile-prefix-map=${folder}/=>)
  endif()
endforeach()
if(MORTISE_HARDENING AND NOT MORTISE_SANITIZE)
  include(MortiseHardening)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_EXTENSIONS OFF)
  # A sixth of the time to compile; in KiB. What comes out is the same. Without unity builds the
  # tools of clang read the command lines, and do not know the option.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(mortise_build_flags INTERFACE
      $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
  endif()
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(mortise_build_flags INTERFACE  # for ccache
      $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
  # A quarter of the time to link. What is packaged or installed takes the system's own linker.
  find_program(MORTISE_LLD ld.lld)
  mark_as_advanced(MORTISE_LLD)
  if(MORTISE_LLD AND MORTISE_BUILD_TESTS)
    add_link_options(-fuse-ld=lld)
  endif()
  find_program(MORTISE_CCACHE ccache)
  mark_as_advanced(MORTISE_CCACHE)
  if(MORTISE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${MORTISE_CCACHE}")
    # Otherwise it keeps nothing that was compiled with a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${MORTISE_CCACHE}")
  endif()
endif()

# A misspelt keyword would otherwise swallow the files after it.
macro(mortise_refuse_leftovers name)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

# What is installed: it links into shared libraries as well, and for whichever compiler. Objects of
# link-time optimization are for one version of one compiler, and stay out of it.
function(mortise_library_properties target)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${target} PRIVATE ${MORTISE_MODULE_FLAGS})
endfunction()

# The headers that tests of the public interface include are compiled once for all of them, which
# saves half of the time of most. These tests are not optimized, since the library does the work.
# Other tests are: much of what they run are templates in headers of core. They share no headers:
# most of their time goes into templates that each source instantiates all the same, and that unity
# builds share.
set(mortise_test_flags)
if(NOT MORTISE_SANITIZE)
  set(mortise_test_flags $<$<CONFIG:Debug>:-O0>)
endif()

function(mortise_precompile_for_tests)
  set(source ${PROJECT_BINARY_DIR}/precompiled_for_tests.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(mortise_precompiled OBJECT ${source})
  target_link_libraries(mortise_precompiled PRIVATE
    mortise::mortise GTest::gmock mortise_build_flags)
  target_compile_options(mortise_precompiled PRIVATE ${mortise_test_flags})
  # CMake compiles an object library with -fPIC, and programs with -fPIE.
  if(CMAKE_POSITION_INDEPENDENT_CODE)
    set_target_properties(mortise_precompiled PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(mortise_precompiled PRIVATE -fPIE)
  endif()
  target_precompile_headers(mortise_precompiled PRIVATE
    <future> <map> <set> <sstream> <thread> <gmock/gmock.h> <gtest/gtest.h> <mortise/mortise.hpp>)
endfunction()

function(mortise_compile_as_test target)
  if(ARGN MATCHES "mortise::(mortise|testing|console|http_door)" AND TARGET mortise_precompiled)
    target_compile_options(${target} PRIVATE ${mortise_test_flags})
    target_precompile_headers(${target} REUSE_FROM mortise_precompiled)
  endif()
endfunction()

# Compiles so many sources of a module at a time, instead of the eight of CMake: with fewer objects
# less is compiled twice, and two processors still have enough of them. Names in unnamed namespaces
# must differ within a batch.
function(mortise_unite_module name size)
  set_target_properties(mortise_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# A folder of the library. Modules are object libraries: they end up inside the one mortise
# library, and nothing but that library is installed. Object files do not travel along USES: a
# program lists every module it needs.
#   mortise_module(storage SOURCES ... HEADERS ... [PUBLIC_HEADERS include/mortise/...]
#                  USES mortise::core PRIVATE_USES RocksDB::rocksdb-shared)
# HEADERS are included as "storage/log/log_store.hpp", PUBLIC_HEADERS as <mortise/node.hpp>.
function(mortise_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;PUBLIC_HEADERS;USES;PRIVATE_USES")
  mortise_refuse_leftovers(${name})
  if(MORTISE_MUTANTS)
    mortise_take_woven(arg_SOURCES)
  endif()
  add_library(mortise_${name} OBJECT ${arg_SOURCES})
  add_library(mortise::${name} ALIAS mortise_${name})
  # Header sets, so that CMAKE_VERIFY_INTERFACE_HEADER_SETS compiles each header on its own.
  target_sources(mortise_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  if(arg_PUBLIC_HEADERS)
    target_sources(mortise_${name} PUBLIC FILE_SET public_headers TYPE HEADERS
      BASE_DIRS include FILES ${arg_PUBLIC_HEADERS})
  endif()
  if(MORTISE_MUTANTS)
    # Before the folder of the sources: it has some headers as well.
    target_include_directories(mortise_${name} BEFORE PUBLIC
      $<BUILD_INTERFACE:${mortise_woven_dir}>)
  endif()
  target_link_libraries(mortise_${name} PUBLIC ${arg_USES}
    PRIVATE ${arg_PRIVATE_USES} mortise_build_flags)
  # The dev preset optimizes the library more than its tests, of which there is more to compile.
  target_compile_options(mortise_${name} PRIVATE ${MORTISE_MODULE_FLAGS})
  target_compile_features(mortise_${name} PUBLIC cxx_std_20)
  mortise_library_properties(mortise_${name})
  if(NOT BUILD_SHARED_LIBS)
    # So that a plug-in with a copy of the library never calls that of its host, nor the reverse.
    set_target_properties(mortise_${name} PROPERTIES
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()

# A program that is not installed; it lands in <build>/tests, whichever folder lists it.
#   mortise_program(mortise_sim SOURCES ... USES mortise::core ...)
function(mortise_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
  mortise_refuse_leftovers(${name})
  if(MORTISE_MUTANTS)
    mortise_take_woven(arg_SOURCES)
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(MORTISE_MUTANTS)  # before the folder of the sources, which has some of the headers as well
    target_include_directories(${name} PRIVATE ${mortise_woven_dir})
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_USES} mortise_build_flags)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# Compiles so many sources of a suite at a time.
function(mortise_unite target size)
  if(mortise_unity_suites)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size}
      # A local name of one file may hide a name of another file.
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma GCC diagnostic ignored \"-Wshadow\"")
  endif()
endfunction()

# One executable, one line in ctest: listing the cases of every suite would run every program on
# each start. Runs in the top folder. TIMEOUT is in seconds and is stretched under sanitizers.
#   mortise_test(core_unit SOURCES ... USES mortise::core LABEL unit TIMEOUT 30)
#   mortise_test(sim_quick PROGRAM mortise_sim ARGS --seeds 50 LABEL sim TIMEOUT 60)
#   mortise_test(embed_latch IN embed_tests SOURCES latch_test.cpp USES mortise::testing ...)
# IN a program: several tests share it, and each runs the cases of its own sources, in a process of
# its own. A program costs a link and 50 MB, so a suite has one alone only if it defines what others
# must not have, as an operator new of its own.
# With unity builds a suite of more than three files is compiled 16 files at a time, because headers
# and their templates take most of the time. A file that declares a name that one of its neighbours
# declares as well is compiled alone (SKIP_UNITY_BUILD_INCLUSION).
# The label `full` keeps a test out of every-commit runs. A suite with SOURCES gets GTest's main.
# ALSO_WITH_TLS runs it once more, as NAME_tls with that label, with clusters that use TLS.
function(mortise_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALSO_WITH_TLS" "TIMEOUT;PROGRAM;IN"
    "SOURCES;USES;LABEL;ARGS")
  mortise_refuse_leftovers(${name})
  if(NOT arg_LABEL OR NOT arg_TIMEOUT)
    message(FATAL_ERROR "${name}: a test has a LABEL and a TIMEOUT")
  endif()
  if(arg_IN)
    if(NOT TARGET ${arg_IN})
      mortise_program(${arg_IN} SOURCES ${PROJECT_SOURCE_DIR}/tests/support/cases_of_files.cpp
        USES GTest::gmock)
      mortise_compile_as_test(${arg_IN} ${arg_USES})
      mortise_unite(${arg_IN} 6)
    endif()
    target_sources(${arg_IN} PRIVATE ${arg_SOURCES})
    target_link_libraries(${arg_IN} PRIVATE ${arg_USES})
    list(JOIN arg_SOURCES "," files)
    list(PREPEND arg_ARGS --of=${files})
    set(arg_PROGRAM ${arg_IN})
  elseif(NOT arg_PROGRAM)
    set(arg_PROGRAM ${name})
    mortise_program(${name} SOURCES ${arg_SOURCES} USES ${arg_USES} GTest::gmock_main)
    mortise_compile_as_test(${name} ${arg_USES})
    list(LENGTH arg_SOURCES count)
    if(count GREATER 3)
      mortise_unite(${name} 16)
    endif()
  endif()
  if(MORTISE_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
  endif()
  add_test(NAME ${name} COMMAND ${arg_PROGRAM} ${arg_ARGS}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # What may take long begins first, so that nothing long is left to run alone.
  set_tests_properties(${name} PROPERTIES
    LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT})
  if(arg_ALSO_WITH_TLS)
    add_test(NAME ${name}_tls COMMAND ${arg_PROGRAM} ${arg_ARGS}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}_tls PROPERTIES
      LABELS full TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT}
      ENVIRONMENT "MORTISE_TESTING_TLS=1")
  endif()
endfunction()
