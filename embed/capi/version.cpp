#include <string_view>

#include <mortise.h>

static_assert(std::string_view{MORTISE_VERSION_STRING} == MORTISE_VERSION,
              "CMake reads the version from mortise.h");

const char* mortise_version(void) {
    return MORTISE_VERSION_STRING;
}

int mortise_version_number(void) {
    return MORTISE_VERSION_NUMBER;
}
