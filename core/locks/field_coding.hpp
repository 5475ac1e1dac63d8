// Writes and reads what lists its fields, as most requests and the states of the kinds do. So there
// is one description of their bytes, which are in no other place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "core/base/fields.hpp"
#include "core/base/ids.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

inline std::string get_name(ByteReader& in) {
    std::string name{in.text(name_bytes_max)};
    if (name.empty()) in.fail();
    return name;
}

inline std::uint32_t get_number(ByteReader& in, std::uint32_t from, std::uint32_t to) {
    const auto number = in.varint();
    if (number < from || number > to) in.fail();
    return static_cast<std::uint32_t>(number);
}

// Writes the distance from the request to the operation that it refers to, which is mostly a small
// number. A reference to a later operation is invalid; its distance wraps around.
inline void put_operation(ByteWriter& out, Seq seq, Seq operation) {
    out.varint(seq.raw() - operation.raw());
}

inline Seq get_operation(ByteReader& in, Seq seq) {
    const Seq operation{seq.raw() - in.varint()};
    if (!operation.is_set()) in.fail();
    return operation;
}

// `seq` is the request whose fields these are.
class FieldWriter {
public:
    explicit FieldWriter(ByteWriter& out, Seq seq = {}) : out_{out}, seq_{seq} {}

    void name(const std::string& name) { out_.text(name); }
    void text(const std::string& text, std::size_t /*max*/) { out_.text(text); }
    void label(const std::string& label) { out_.text(label); }
    void id(auto id) { out_.varint(id.raw()); }
    void choice(auto choice, auto /*last*/) { put_enum(out_, choice); }
    void number(std::uint32_t number, std::uint32_t /*from*/, std::uint32_t /*to*/) {
        out_.varint(number);
    }
    void any(std::uint64_t number) { out_.varint(number); }
    void flag(bool flag) { put_flag(out_, flag); }
    void operation(Seq operation) { put_operation(out_, seq_, operation); }
    template <class Map>
    void by_session(const Map& map) {
        out_.varint(map.size());
        for (const auto& [session, its] : map) {
            out_.varint(session.raw());
            its.fields(*this, its);
        }
    }

private:
    ByteWriter& out_;
    Seq seq_;
};

// Fails for what FieldWriter does not write.
class FieldReader {
public:
    explicit FieldReader(ByteReader& in, Seq seq = {}) : in_{in}, seq_{seq} {}

    void name(std::string& name) { name = get_name(in_); }
    void text(std::string& text, std::size_t max) { text = in_.text(max); }
    void label(std::string& label) { text(label, label_bytes_max); }
    template <class AnyId>
    void id(AnyId& id) {
        id = get_id<AnyId>(in_);
    }
    template <class Enum>
    void choice(Enum& choice, Enum last) {
        choice = get_enum(in_, last);
    }
    void number(std::uint32_t& number, std::uint32_t from, std::uint32_t to) {
        number = get_number(in_, from, to);
    }
    void any(std::uint64_t& number) { number = in_.varint(); }
    void flag(bool& flag) { flag = get_flag(in_); }
    void operation(Seq& operation) { operation = get_operation(in_, seq_); }
    template <class Map>
    void by_session(Map& map) {
        using Its = typename Map::mapped_type;
        for (auto left = in_.count(Its::bytes_min); left > 0 && in_.ok(); --left) {
            const auto session = get_id<typename Map::key_type>(in_);
            Its its;
            its.fields(*this, its);
            const bool rises = map.empty() || map.rbegin()->first < session;
            if (!rises) in_.fail();
            map.emplace_hint(map.end(), session, its);
        }
    }

private:
    ByteReader& in_;
    Seq seq_;
};

// Whether the numbers of a request are in their ranges. What the log has was read by FieldReader,
// but a machine takes requests from anywhere.
class RangeCheck {
public:
    void name(const std::string& /*name*/) {}
    void label(const std::string& /*label*/) {}
    void number(std::uint32_t number, std::uint32_t from, std::uint32_t to) {
        ok_ = ok_ && number >= from && number <= to;
    }
    void any(std::uint64_t /*number*/) {}
    void flag(bool /*flag*/) {}
    [[nodiscard]] bool ok() const { return ok_; }

private:
    bool ok_ = true;
};

}  // namespace mortise::core
