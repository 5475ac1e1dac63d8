#include "embed/stay_loaded.hpp"

#include <dlfcn.h>
#include <link.h>

namespace mortise::detail {

void stay_loaded() noexcept {
    Dl_info info;
    void* found = nullptr;
    const auto here = reinterpret_cast<void*>(&stay_loaded);
    if (::dladdr1(here, &info, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return;
    const auto* const object = static_cast<const link_map*>(found);
    if (object->l_name[0] == '\0') return;  // the program itself
    // By the name that it was loaded under, which is compared before any file is looked at. It
    // fails for want of memory only, and then a host that unloads nothing is none the worse.
    void* const handle = ::dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle != nullptr) ::dlclose(handle);
}

}  // namespace mortise::detail
