# The library's sources with the mutants of tests/mutants/table woven in: for one build with all of
# them (MORTISE_MUTANTS), and for the tests of the explorer.

set(mortise_woven_dir ${PROJECT_BINARY_DIR}/woven)

# Weaves the files whose names begin with one of the prefixes, or all, and does so again when one of
# them, the table or the script changes. What comes out the same is not compiled again.
#   mortise_weave(woven core/raft/ core/base/)
# Sets `woven` to false, with a warning, when a fragment of the table does not fit its file; the
# test mutant_table fails then, too. With MORTISE_MUTANTS that is an error.
function(mortise_weave result)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
  set(folder ${PROJECT_SOURCE_DIR}/tests/mutants)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B ${folder}/weave.py --into ${mortise_woven_dir} --only ${ARGN}
    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE complaints
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(GLOB inputs ${folder}/table/*.toml ${folder}/*.py)
  file(GLOB_RECURSE woven RELATIVE ${mortise_woven_dir}
    ${mortise_woven_dir}/*.cpp ${mortise_woven_dir}/*.hpp)
  list(TRANSFORM woven PREPEND ${PROJECT_SOURCE_DIR}/)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
    CMAKE_CONFIGURE_DEPENDS ${inputs} ${woven})
  if(NOT failed)
    message(STATUS ${said})
    set(${result} TRUE PARENT_SCOPE)
  elseif(MORTISE_MUTANTS)
    message(FATAL_ERROR "The mutants do not fit the sources:\n${complaints}")
  else()
    message(WARNING "The mutants do not fit the sources:\n${complaints}")
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Of the sources in the list of that name, those that are woven take the places of those they are
# made from.
function(mortise_take_woven list)
  set(taken)
  foreach(source IN LISTS ${list})
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE whole)
    cmake_path(RELATIVE_PATH whole BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    if(EXISTS ${mortise_woven_dir}/${name})
      set(source ${mortise_woven_dir}/${name})
    endif()
    list(APPEND taken ${source})
  endforeach()
  set(${list} ${taken} PARENT_SCOPE)
endfunction()

if(MORTISE_MUTANTS)
  mortise_weave(mortise_woven)
endif()
