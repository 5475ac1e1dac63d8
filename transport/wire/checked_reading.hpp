// Collects what is wrong with a message while it is read. After the first error the rest is read as
// if it were valid, and discarded at the end: check once, in finish().
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <capnp/blob.h>
#include <capnp/list.h>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/raft/bounds.hpp"
#include "transport/wire/malformed.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {

class CheckedReading {
public:
    // `what` names the field; the string must outlive this object.
    void fail(Malformed malformed, const char* what) {
        if (ok()) {
            malformed_ = malformed;
            what_ = what;
        }
    }
    [[nodiscard]] bool ok() const { return what_ == nullptr; }

    // The enumerators have the same numbers on the wire and in core; `last` is the highest known
    // one.
    template <class Enum, class Wire>
    Enum known(Wire wire, Enum last, const char* what) {
        const auto raw = static_cast<std::uint16_t>(wire);
        if (raw <= static_cast<std::uint16_t>(last)) return static_cast<Enum>(raw);
        fail(Malformed::unknown_kind, what);
        return Enum{};
    }

    // Reads an id that must not be zero.
    template <class Id>
    Id set(std::uint64_t raw, const char* what) {
        if (raw == 0) fail(Malformed::bad_number, what);
        return Id{raw};
    }

    core::LogIndex index(std::uint64_t raw, const char* what) {
        if (core::is_in_bounds(core::LogIndex{raw})) return core::LogIndex{raw};
        fail(Malformed::bad_number, what);
        return {};
    }

    core::Term term(std::uint64_t raw, const char* what) {
        if (core::is_in_bounds(core::Term{raw})) return core::Term{raw};
        fail(Malformed::bad_number, what);
        return {};
    }

    std::string text(capnp::Data::Reader data, std::size_t bytes_max, const char* what) {
        if (data.size() <= bytes_max) return {data.asChars().begin(), data.size()};
        fail(Malformed::too_long, what);
        return {};
    }

    core::Bytes bytes(capnp::Data::Reader data, std::size_t bytes_max, const char* what) {
        return core::Bytes{text(data, bytes_max, what)};
    }

    // Calls `each` for the elements, or for none if there are too many.
    template <class List, class Each>
    void list(const List& elements, std::size_t size_max, const char* what, Each&& each) {
        if (elements.size() > size_max) return fail(Malformed::too_many, what);
        for (auto element : elements) {
            if (!ok()) return;
            each(element);
        }
    }

    template <class T>
    core::Result<T> finish(T value) const {
        if (ok()) return value;
        return core::Error{make_error_code(malformed_), what_};
    }

private:
    Malformed malformed_ = Malformed::unknown_kind;
    const char* what_ = nullptr;
};

}  // namespace mortise::transport
