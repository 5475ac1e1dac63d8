#include "tools/mortise/say.hpp"

#include <array>
#include <climits>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mortise::cli {
namespace {

struct Ends {
    explicit Ends(bool is_socket) {
        const int failed =
            is_socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) : ::pipe(ends.data());
        EXPECT_EQ(failed, 0);
    }
    ~Ends() {
        for (const int end : ends)
            ::close(end);
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;

    [[nodiscard]] std::string read(std::size_t bytes) const {
        std::string text(bytes, '\0');
        const auto got = ::read(ends[0], text.data(), bytes);
        text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return text;
    }

    std::array<int, 2> ends{-1, -1};
};

TEST(WriteAtOnce, DoesNotWaitForTheReader) {
    for (const bool is_socket : {false, true}) {
        const Ends pipe{is_socket};
        EXPECT_TRUE(write_at_once(pipe.ends[1], "a line\n"));
        EXPECT_EQ(pipe.read(100), "a line\n");
        int written = 0;
        while (write_at_once(pipe.ends[1], std::string(1'000, 'x')))
            ++written;
        EXPECT_GT(written, 10);
        EXPECT_EQ(::fcntl(pipe.ends[1], F_GETFL) & O_NONBLOCK, 0);
    }
}

TEST(WriteAtOnce, CutsALongLineAndNotItsEnd) {
    const Ends pipe{false};
    EXPECT_TRUE(write_at_once(pipe.ends[1], std::string(3UL * PIPE_BUF, 'x') + "\n"));
    EXPECT_EQ(pipe.read(3UL * PIPE_BUF), std::string(PIPE_BUF - 1, 'x') + "\n");
}

TEST(WriteAtOnce, SaysWhenThereIsNoReader) {
    EXPECT_FALSE(write_at_once(-1, "a line\n"));
}

}  // namespace
}  // namespace mortise::cli
