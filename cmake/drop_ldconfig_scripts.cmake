# Run by `cpack` when it has made the packages. It gives a package with a shared library a postinst
# and a postrm that call ldconfig, and has no setting against it. Ours has a trigger for that, as
# Debian wants it, and no scripts of its own, so these are taken out again.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  if(package MATCHES "/libmortise[0-9]+_[^/]*[.]deb$")
    set(folder ${package}.unpacked)
    execute_process(COMMAND dpkg-deb --raw-extract ${package} ${folder}
      COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE ${folder}/DEBIAN/postinst ${folder}/DEBIAN/postrm)
    execute_process(COMMAND dpkg-deb --root-owner-group -Zxz --build ${folder} ${package}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${folder})
  endif()
endforeach()
