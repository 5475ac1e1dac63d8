#include "storage/base/errors.hpp"

#include <cerrno>
#include <utility>

#include "storage/base/descriptors.hpp"

namespace mortise::storage {

namespace {

class Category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "mortise.storage"; }

    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<Errc>(code)) {
            case Errc::locked: return "the data directory is in use";
            case Errc::damaged: return "the data directory is damaged";
            case Errc::newer_format: return "the data directory is of a later version";
            case Errc::wrong_node: return "the data directory belongs to another node";
            case Errc::io: return "the data directory cannot be read or written";
            case Errc::no_space: return "there is no space left for the data directory";
            case Errc::shortage: return "there are no descriptors or threads left";
            case Errc::closed: return "the program closed descriptors of the data directory";
            case Errc::denied: return "this user may not read or write the data directory";
            case Errc::not_a_directory: return "the data directory is not a directory";
        }
        return "unknown error of the data directory";
    }
};

}  // namespace

const std::error_category& error_category() noexcept {
    static const Category category;
    return category;
}

Error make_error(Errc code, std::string what) {
    return {make_error_code(code), std::move(what)};
}

Error closed_error(const std::string& path) {
    return make_error(Errc::closed, path + ": " + closed_words);
}

Error io_error(const std::string& what, int errno_value) {
    const bool is_full = errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;
    const auto code = is_full                    ? Errc::no_space
                      : is_shortage(errno_value) ? Errc::shortage
                      : errno_value == EACCES    ? Errc::denied
                                                 : Errc::io;
    const auto* limit = errno_value == EFBIG ? " (RLIMIT_FSIZE)" : "";
    return make_error(code, what + ": " + std::system_category().message(errno_value) + limit);
}

}  // namespace mortise::storage
