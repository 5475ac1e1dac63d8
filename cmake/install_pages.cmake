# Writes the manual pages and the completions of a built program, which it prints itself:
#   cmake -DPROGRAM=<file> -DINTO=<prefix>/share -P install_pages.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${INTO}/man/man1)
run(${PROGRAM} man --directory ${INTO}/man/man1)
file(GLOB pages ${INTO}/man/man1/mortise*.1)
if(NOT pages)
  message(FATAL_ERROR "${PROGRAM} wrote no manual pages")
endif()
run(gzip -9nf ${pages})

# Where Debian's shells look.
set(shells bash zsh fish)
set(files bash-completion/completions/mortise zsh/vendor-completions/_mortise
  fish/vendor_completions.d/mortise.fish)
foreach(shell file IN ZIP_LISTS shells files)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${INTO}/${folder})
  run(${PROGRAM} completion ${shell} OUTPUT_FILE ${INTO}/${file})
endforeach()
