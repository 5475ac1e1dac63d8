#include <ostream>

#include <mortise/fencing_token.hpp>

namespace mortise {

std::string FencingToken::to_string() const {
    return std::to_string(raw_);
}

std::string to_string(FencingToken token) {
    return token.to_string();
}

// Not as a number, which the stream's locale and flags would decorate.
std::ostream& operator<<(std::ostream& out, FencingToken token) {
    return out << token.to_string();
}

}  // namespace mortise
