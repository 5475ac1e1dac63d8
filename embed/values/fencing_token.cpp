#include <ostream>

#include <mortise/fencing_token.hpp>

namespace mortise {

std::string FencingToken::to_string() const {
    return std::to_string(raw_);
}

std::string to_string(FencingToken token) {
    return token.to_string();
}

// Written as text: the stream's locale and flags would change a number.
std::ostream& operator<<(std::ostream& out, FencingToken token) {
    return out << token.to_string();
}

}  // namespace mortise
