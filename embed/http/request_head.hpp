// What httplib is shown of a request. It reads some headers before we can refuse the
// request, and not all of them safely: `Range` goes through a regular expression that recurses once
// for each byte, so 8 KB of it are more than a thread's stack. So only headers that we
// uses reach it, and only heads that are read in one way. A pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mortise::http {

// `head` ends with the first empty line. Empty for a malformed one: RFC 9112 wants a server to
// refuse lines without CR, blanks before the colon of a header, and headers over several lines.
[[nodiscard]] std::optional<std::string> admitted_head(std::string_view head);

}  // namespace mortise::http
