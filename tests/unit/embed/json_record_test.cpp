#include "embed/host/json_record.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mortise::detail {
namespace {

using Json = nlohmann::json;

// As a line of the log begins.
Json parsed(const LogRecord& record) {
    const auto line = json_record(record);
    EXPECT_LE(line.size(), json_record_bytes_max);
    return Json::parse("{" + line);
}

TEST(JsonRecord, HasThePartsOfALine) {
    const std::vector<LogField> fields{{"leader", "2"}, {"term", "7"}};
    EXPECT_EQ(json_record({LogLevel::info, 1, "leader_changed", "node 2 leads", fields, 0}),
              R"("node":1,"key":"leader_changed","message":"node 2 leads",)"
              R"("fields":{"leader":"2","term":"7"}})");
    EXPECT_EQ(parsed({LogLevel::info, 1, "k", "t", {}, 3}),
              Json::parse(R"({"node":1,"key":"k","message":"t","left_out":3,"fields":{}})"));
}

TEST(JsonRecord, TakesAnyBytes) {
    const std::string text{"a \"name\" C:\\dir \xff\x00\x1b tab\t \xc3\xa9", 27};
    const std::vector<LogField> fields{{"na\"me", text}};
    const auto json = parsed({LogLevel::warn, 2, "k", text, fields, 0});
    EXPECT_EQ(json["message"], "a \"name\" C:\\dir \\xff\\x00\\x1b tab\\x09 \xc3\xa9");
    EXPECT_EQ(json["fields"]["na\"me"], json["message"]);
}

TEST(JsonRecord, IsCutBetweenCharactersAndStaysWhole) {
    for (const auto* unit : {"x", "\"", "\\", "\xff", "\xc3\xa9", "\xf0\x9f\x94\x92"}) {
        std::string text;
        while (text.size() < 5'000)
            text += unit;
        const std::vector<LogField> fields(10, {"name", text});
        const auto json = parsed({LogLevel::warn, 2, "k", text, fields, 1});
        const std::string message = json["message"];
        EXPECT_TRUE(message.ends_with("...")) << unit;
        EXPECT_GT(message.size(), 1'000U) << unit;
        EXPECT_EQ(json["fields"].size(), 1U) << "the same key";
    }
}

}  // namespace
}  // namespace mortise::detail
