# Writes the manual pages and the completions of a built program, which it prints itself:
#   cmake -DPROGRAM=<file> -DPREFIX=<folder> -DMANUAL=share/man -DDATA=share -P install_pages.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Below DESTDIR, as everything that is installed.
function(folder result name)
  cmake_path(ABSOLUTE_PATH name BASE_DIRECTORY ${PREFIX})
  set(name $ENV{DESTDIR}${name})
  file(MAKE_DIRECTORY ${name})
  set(${result} ${name} PARENT_SCOPE)
endfunction()

folder(manual ${MANUAL}/man1)
run(${PROGRAM} man --directory ${manual})
file(GLOB pages ${manual}/mortise*.1)
if(NOT pages)
  message(FATAL_ERROR "${PROGRAM} wrote no manual pages")
endif()
find_program(gzip gzip)
if(gzip)
  run(${gzip} -9nf ${pages})
endif()

# Where shells look. In /usr, Debian has a folder of its own for the zsh of packages.
set(zsh zsh/site-functions)
if(PREFIX STREQUAL "/usr")
  set(zsh zsh/vendor-completions)
endif()
set(shells bash zsh fish)
set(folders bash-completion/completions ${zsh} fish/vendor_completions.d)
set(files mortise _mortise mortise.fish)
foreach(shell name file IN ZIP_LISTS shells folders files)
  folder(into ${DATA}/${name})
  run(${PROGRAM} completion ${shell} OUTPUT_FILE ${into}/${file})
endforeach()
