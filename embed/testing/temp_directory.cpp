#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <mortise/testkit/temp_directory.hpp>

namespace mortise::testkit {

TempDirectory::TempDirectory(std::string_view prefix, std::filesystem::path parent) {
    if (parent.empty()) parent = std::filesystem::temp_directory_path();
    auto name = (parent / prefix).string() + "-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
        throw std::system_error{errno, std::generic_category(),
                                "cannot make a directory in " + parent.string()};
    path_ = name;
}

TempDirectory::~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace mortise::testkit
