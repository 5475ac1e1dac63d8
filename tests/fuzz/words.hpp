#pragma once

#include <algorithm>
#include <string_view>

#include <capnp/common.h>
#include <kj/array.h>

namespace mortise::fuzz {

// Whole words, aligned as Cap'n Proto reads them.
inline kj::Array<capnp::word> words_of(std::string_view bytes) {
    auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
    std::copy_n(bytes.begin(), words.asChars().size(), words.asChars().begin());
    return words;
}

}  // namespace mortise::fuzz
