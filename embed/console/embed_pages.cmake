# cmake -DPAGES=... -DOUTPUT=... -P embed_pages.cmake: writes a C++ source with the files of the
# page.
function(type_of name result)
  if(name MATCHES "[.]html$")
    set(type "text/html")
  elseif(name MATCHES "[.]css$")
    set(type "text/css")
  elseif(name MATCHES "[.]js$")
    set(type "text/javascript")
  elseif(name MATCHES "[.]svg$")
    set(type "image/svg+xml")
  else()
    message(FATAL_ERROR "no type of content is known for ${name}")
  endif()
  set(${result} "${type}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(rows "")
foreach(page IN LISTS PAGES)
  cmake_path(GET page FILENAME name)
  type_of(${name} type)
  string(MAKE_C_IDENTIFIER ${name} array)
  file(READ ${page} bytes HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n"
    bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char ${array}[] = {\n${bytes}};\n")
  if(name STREQUAL "index.html")
    set(path "/")
  else()
    set(path "/${name}")
  endif()
  string(APPEND rows
    "    {\"${path}\", \"${type}\",\n"
    "     {reinterpret_cast<const char*>(${array}), sizeof ${array}}},\n")
endforeach()
file(WRITE ${OUTPUT}
"// Made by embed_pages.cmake.
#include \"embed/console/assets.hpp\"

namespace mortise::console {

namespace {

${arrays}
const Asset assets[] = {
${rows}};

}  // namespace

const Asset* find_asset(std::string_view path) {
    for (const auto& asset : assets) {
        if (asset.path == path) return &asset;
    }
    return nullptr;
}

}  // namespace mortise::console
")
