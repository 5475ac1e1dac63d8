#include "tools/mortise/exit_code.hpp"

#include <system_error>

#include <asio/error.hpp>
#include <gtest/gtest.h>

#include "storage/base/errors.hpp"
#include <mortise/certificates.hpp>
#include <mortise/config.hpp>
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::cli {
namespace {

ExitCode code_of(std::error_code code) {
    return exit_code_of(std::system_error{code, "what"});
}

TEST(ExitCode, AFailureCarriesItsOwn) {
    EXPECT_EQ(exit_code_of(Failure{ExitCode::usage, "x"}), ExitCode::usage);
}

TEST(ExitCode, AConfigurationThatIsWrongAndOneThatIsNotThereDiffer) {
    EXPECT_EQ(exit_code_of(ConfigError{Errc::invalid_argument, {"f", 1, "k"}, "no"}),
              ExitCode::config);
    const auto missing = std::make_error_code(std::errc::no_such_file_or_directory);
    EXPECT_EQ(exit_code_of(ConfigError{missing, {"f", 0, ""}, "no"}), ExitCode::no_input);
}

TEST(ExitCode, ForCalls) {
    EXPECT_EQ(exit_code_of(LockError{Errc::no_quorum}), ExitCode::unavailable);
    EXPECT_EQ(exit_code_of(LockError{Errc::not_ready}), ExitCode::taken);
    EXPECT_EQ(exit_code_of(LockError{Errc::invalid_argument}), ExitCode::usage);
}

TEST(ExitCode, ForTheDataDirectory) {
    EXPECT_EQ(code_of(storage::Errc::locked), ExitCode::taken);
    EXPECT_EQ(code_of(storage::Errc::io), ExitCode::io_error);
    EXPECT_EQ(code_of(storage::Errc::no_space), ExitCode::io_error);
    EXPECT_EQ(code_of(storage::Errc::damaged), ExitCode::data_error);
    EXPECT_EQ(code_of(storage::Errc::newer_format), ExitCode::data_error);
    EXPECT_EQ(code_of(storage::Errc::wrong_node), ExitCode::data_error);
    EXPECT_EQ(code_of(storage::Errc::denied), ExitCode::denied);
    EXPECT_EQ(code_of(storage::Errc::not_a_directory), ExitCode::config);
}

TEST(ExitCode, ForCertificates) {
    const auto of = [](std::errc code) {
        return exit_code_of(CertificateError{std::make_error_code(code), "what"});
    };
    EXPECT_EQ(of(std::errc::invalid_argument), ExitCode::usage);
    EXPECT_EQ(of(std::errc::bad_message), ExitCode::data_error);
    EXPECT_EQ(of(std::errc::file_exists), ExitCode::exists);
    EXPECT_EQ(of(std::errc::operation_not_permitted), ExitCode::denied);
    EXPECT_EQ(of(std::errc::permission_denied), ExitCode::no_input);
    EXPECT_EQ(of(std::errc::no_such_file_or_directory), ExitCode::no_input);
    EXPECT_EQ(of(std::errc::no_space_on_device), ExitCode::io_error);
}

TEST(ExitCode, ForErrorsOfTheSystem) {
    EXPECT_EQ(code_of(std::make_error_code(std::errc::address_in_use)), ExitCode::taken);
    EXPECT_EQ(code_of(std::make_error_code(std::errc::address_not_available)), ExitCode::taken);
    EXPECT_EQ(code_of(std::make_error_code(std::errc::no_space_on_device)), ExitCode::io_error);
    EXPECT_EQ(code_of(asio::error::make_error_code(asio::error::address_in_use)), ExitCode::taken);
    EXPECT_EQ(code_of(asio::error::make_error_code(asio::error::broken_pipe)), ExitCode::io_error);
}

TEST(ExitCode, AnythingElseIsAMistakeOfOurs) {
    EXPECT_EQ(exit_code_of(std::runtime_error{"x"}), ExitCode::software);
}

TEST(ExitCode, TheReasonIsOneLineAndHarmless) {
    const auto full = std::make_error_code(std::errc::no_space_on_device);
    EXPECT_EQ(line_of(std::system_error{full, "cannot write: " + full.message()}),
              "cannot write: " + full.message());
    EXPECT_EQ(line_of(std::system_error{full, "cannot write"}), "cannot write: " + full.message());
    EXPECT_EQ(line_of(std::runtime_error{"a\nb\x1b[2J"}), "a\\x0ab\\x1b[2J");
    EXPECT_EQ(line_of(std::system_error{Errc::invalid_argument, "not an address"}),
              "not an address");
    EXPECT_EQ(line_of(std::system_error{storage::make_error_code(storage::Errc::locked), "in use"}),
              "in use");
    EXPECT_EQ(line_of(LockError{Errc::invalid_argument, {.name = "x"}}),
              "x: " + make_error_code(Errc::invalid_argument).message());
}

}  // namespace
}  // namespace mortise::cli
