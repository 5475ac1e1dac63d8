#include "embed/host/stderr_sink.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mortise::detail {
namespace {

// Replaces it while this object exists.
class InPlaceOfStandardError {
public:
    explicit InPlaceOfStandardError(int descriptor) : before_{::dup(STDERR_FILENO)} {
        ::dup2(descriptor, STDERR_FILENO);
    }
    ~InPlaceOfStandardError() {
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
    }
    InPlaceOfStandardError(const InPlaceOfStandardError&) = delete;
    InPlaceOfStandardError& operator=(const InPlaceOfStandardError&) = delete;

private:
    const int before_;
};

// Twice as much as a pipe or a socket's buffer holds.
constexpr int lines_too_many = 2'000;

void write_to(StderrSink& sink, int lines) {
    const std::string text(500, 'x');
    for (int line = 0; line < lines; ++line)
        sink.log(spdlog::details::log_msg{"name", spdlog::level::err, text});
}

TEST(StderrSink, DoesNotWaitForWhoeverReads) {
    for (const bool is_socket : {false, true}) {
        std::array<int, 2> ends{};
        ASSERT_EQ(
            is_socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) : ::pipe(ends.data()),
            0);
        StderrSink sink;
        {
            const InPlaceOfStandardError here{ends[1]};
            write_to(sink, lines_too_many);
        }
        EXPECT_GT(sink.dropped(), 0U);
        EXPECT_EQ(::fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
        std::array<char, 100> text{};
        ASSERT_EQ(::read(ends[0], text.data(), text.size()), 100);
        EXPECT_THAT(std::string(text.data(), 100), testing::HasSubstr("] xxx"));
        ::close(ends[0]);
        ::close(ends[1]);
    }
}

TEST(StderrSink, AReaderThatIsGoneIsNoEndOfTheProgram) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    StderrSink sink;
    {
        const InPlaceOfStandardError here{ends[1]};
        write_to(sink, 1);  // SIGPIPE would end this test
    }
    EXPECT_EQ(sink.dropped(), 1U);
    ::close(ends[1]);
}

// A pipe accepts this much in one piece.
TEST(StderrSink, CutsALongLineAndNotItsEnd) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    StderrSink sink;
    const std::string text(2 * PIPE_BUF, 'x');
    {
        const InPlaceOfStandardError here{ends[1]};
        errno = EDOM;
        sink.log(spdlog::details::log_msg{"name", spdlog::level::err, text});
        EXPECT_EQ(errno, EDOM);
    }
    std::string line(2 * PIPE_BUF, '\0');
    ASSERT_EQ(::read(ends[0], line.data(), line.size()), PIPE_BUF);
    EXPECT_EQ(line[PIPE_BUF - 2], 'x');
    EXPECT_EQ(line[PIPE_BUF - 1], '\n');
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(StderrSink, AppendsToAFile) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file{std::tmpfile(), std::fclose};
    ASSERT_EQ(::write(::fileno(file.get()), "before\n", 7), 7);
    StderrSink sink;
    {
        const InPlaceOfStandardError here{::fileno(file.get())};
        write_to(sink, lines_too_many);
    }
    EXPECT_EQ(sink.dropped(), 0U);
    std::rewind(file.get());
    std::array<char, 7> text{};
    ASSERT_EQ(::read(::fileno(file.get()), text.data(), text.size()), 7);
    EXPECT_EQ(std::string(text.data(), 7), "before\n");
}

}  // namespace
}  // namespace mortise::detail
