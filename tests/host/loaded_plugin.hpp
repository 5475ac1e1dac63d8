// The plug-in in this process (plugin.hpp).
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

#include "tests/host/plugin.hpp"

namespace mortise::tests {

// Whether it is mapped into this process.
inline bool is_mapped(const std::string& file_name) {
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);)
        if (line.find(file_name) != std::string::npos) return true;
    return false;
}

class LoadedPlugin {
public:
    explicit LoadedPlugin(const char* path, int flags = RTLD_NOW | RTLD_LOCAL)
        : handle_{::dlopen(path, flags)} {
        if (handle_ == nullptr) throw std::runtime_error{::dlerror()};
        find("plugin_open", open);
        find("plugin_join", join);
        find("plugin_use", use);
        find("plugin_try", try_once);
        find("plugin_throw", throw_error);
        find("plugin_library", library);
        find("plugin_lock", lock);
        find("plugin_keep", keep);
        find("plugin_close", close);
        find("plugin_forget", forget);
    }
    ~LoadedPlugin() { ::dlclose(handle_); }
    LoadedPlugin(const LoadedPlugin&) = delete;
    LoadedPlugin& operator=(const LoadedPlugin&) = delete;

    decltype(&plugin_open) open = nullptr;
    decltype(&plugin_join) join = nullptr;
    decltype(&plugin_use) use = nullptr;
    decltype(&plugin_try) try_once = nullptr;
    decltype(&plugin_throw) throw_error = nullptr;
    decltype(&plugin_library) library = nullptr;
    decltype(&plugin_lock) lock = nullptr;
    decltype(&plugin_keep) keep = nullptr;
    decltype(&plugin_close) close = nullptr;
    decltype(&plugin_forget) forget = nullptr;

private:
    template <class Function>
    void find(const char* name, Function*& function) {
        function = reinterpret_cast<Function*>(::dlsym(handle_, name));
        if (function == nullptr) throw std::runtime_error{::dlerror()};
    }

    void* handle_;
};

}  // namespace mortise::tests
