#include "transport/wire/malformed.hpp"

#include <string>

namespace mortise::transport {

namespace {

class Category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "mortise.malformed"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<Malformed>(value)) {
            case Malformed::unknown_kind: return "a kind that this version does not know";
            case Malformed::bad_number: return "a number out of range";
            case Malformed::too_long: return "more bytes than are allowed";
            case Malformed::too_many: return "more elements than are allowed";
            case Malformed::bad_order: return "elements out of order";
            case Malformed::bad_text: return "bytes that are not allowed";
            case Malformed::bad_pointer: return "an invalid pointer";
        }
        return "malformed";
    }
};

}  // namespace

const std::error_category& malformed_category() {
    static const Category category;
    return category;
}

std::error_code make_error_code(Malformed malformed) {
    return {static_cast<int>(malformed), malformed_category()};
}

}  // namespace mortise::transport
