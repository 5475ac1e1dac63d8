# What makes a fault in memory harder to use: as Debian builds its packages, and beyond that stack
# clash and control flow protection. tests/package/hardening_test.py looks for it in what was built.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
check_pie_supported(LANGUAGES CXX)

# What only some processors have.
foreach(flag IN ITEMS -fcf-protection -fstack-clash-protection)
  string(MAKE_C_IDENTIFIER "MORTISE_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(mortise_build_flags INTERFACE ${flag})
  endif()
endforeach()
target_compile_options(mortise_build_flags INTERFACE
  -fstack-protector-strong
  # Nothing but a warning where nothing is optimized.
  $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
target_link_options(mortise_build_flags INTERFACE
  LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
