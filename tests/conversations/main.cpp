// Makes the pages of a folder anew and writes them to another one: conversations_pages FROM TO.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/conversations/page.hpp"
#include "tests/conversations/scenes.hpp"

namespace {

using namespace mortise::conversations;

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{"cannot read " + path.string()};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void write(const std::filesystem::path& path, const std::string& content) {
    std::ofstream file{path};
    if (!(file << content << std::flush)) throw std::runtime_error{"cannot write " + path.string()};
}

void write_pages(const std::filesystem::path& from, const std::filesystem::path& to) {
    for (const auto& scene : scenes) {
        const auto name = std::string{scene.name} + ".md";
        write(to / name, make_page(content_of(from / name), scene.play()));
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("conversations_pages FROM TO\n", stderr);
        return 2;
    }
    try {
        write_pages(arguments[1], arguments[2]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "conversations_pages: %s\n", error.what());
        return 1;
    }
    return 0;
}
