#include "embed/host/json_record.hpp"

#include <string_view>

#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

constexpr std::size_t message_bytes_max = 2'400;
constexpr std::size_t value_bytes_max = 600;
constexpr std::size_t key_bytes_max = 100;
constexpr std::string_view end = "}}";

bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The text is escaped already, so it is UTF-8 without control characters. It is cut between
// characters.
std::string quoted(std::string_view text, std::size_t bytes_max) {
    std::string json{'"'};
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (json.size() > bytes_max && !continues_character(text[i])) return json + "...\"";
        if (text[i] == '"' || text[i] == '\\') json += '\\';
        json += text[i];
    }
    return json + '"';
}

}  // namespace

std::string json_record(const LogRecord& record) {
    std::string json = "\"node\":" + std::to_string(record.node);
    json += ",\"key\":" + quoted(escaped(record.key), key_bytes_max);
    json += ",\"message\":" + quoted(escaped(record.text), message_bytes_max);
    if (record.left_out > 0) json += ",\"left_out\":" + std::to_string(record.left_out);
    json += ",\"fields\":{";
    bool is_first = true;
    for (const auto& [key, value] : record.fields) {
        const auto field =
            quoted(escaped(key), key_bytes_max) + ":" + quoted(escaped(value), value_bytes_max);
        if (json.size() + field.size() + 1 + end.size() > json_record_bytes_max) continue;
        json.append(is_first ? "" : ",").append(field);
        is_first = false;
    }
    return json.append(end);
}

}  // namespace mortise::detail
