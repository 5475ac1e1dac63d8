#include "tools/mortise/manual/help_text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace mortise::cli {
namespace {

TEST(HelpText, HasEverythingInItsPlace) {
    Command command{.name = "mortise run", .purpose = "Run a command while a lock is held"};
    command.options = {
        {.names = {"-h", "--help"}, .text = "Print this page"},
        {.names = {"--lock"}, .argument = "NAME", .text = "The lock", .is_required = true},
        {.names = {"--timeout"},
         .argument = "DURATION",
         .text = "How long to wait for each member of the cluster that was named",
         .default_value = "5s"},
        {.names = {"--peer-of-the-cluster"},
         .argument = "HOST:PORT",
         .text = "A member",
         .is_repeated = true}};
    command.arguments = {{.argument = "CMD",
                          .kind = Kind::command,
                          .text = "The command",
                          .is_required = true,
                          .is_repeated = true}};
    command.notes = "A note.";
    command.examples = {{"mortise run --lock x -- make", "Runs make."}};
    command.exit_codes = {{0, "success"}, {64, "the command line is invalid"}};
    EXPECT_EQ(help_text(command), R"(Run a command while a lock is held.

Usage: mortise run [OPTIONS] --lock NAME -- CMD...

Arguments:
  CMD                     The command

Options:
  -h, --help              Print this page
  --lock NAME             The lock; required
  --timeout DURATION      How long to wait for each member of the cluster that
                          was named (default: 5s)
  --peer-of-the-cluster HOST:PORT
                          A member; may be repeated

A DURATION is a number with a unit: 250ms, 10s, 1.5h. The units are ns, us, ms,
s, m and h.

A note.

Examples:
  mortise run --lock x -- make
      Runs make.

Exit codes:
  0     success
  64    the command line is invalid
)");
}

TEST(HelpText, ListsTheCommandsBelow) {
    Command command{.name = "mortise members", .purpose = "List the members"};
    command.commands = {{.name = "mortise members add", .purpose = "Add a node"}};
    command.run = [] { return ExitCode::ok; };
    command.arguments = {{.argument = "PREFIX", .text = "A prefix"}};
    EXPECT_EQ(help_text(command), R"(List the members.

Usage: mortise members [COMMAND] [PREFIX]

Arguments:
  PREFIX                  A prefix

Commands:
  add                     Add a node
)");
}

TEST(HelpText, ListsWhatMayBeChosen) {
    const Option option{.names = {"--role"},
                        .argument = "ROLE",
                        .kind = Kind::choice,
                        .choices = {"voter", "learner"},
                        .text = "Its role"};
    EXPECT_EQ(description_of(option), "Its role: voter, learner");
}

TEST(Wrapped, KeepsWordsWhole) {
    EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
    EXPECT_EQ(wrapped("  one   two ", 7, 0), "one two");
    EXPECT_EQ(wrapped("abcdefghij kl", 4, 1), "abcdefghij\n kl");
    EXPECT_EQ(wrapped("", 4, 1), "");
}

}  // namespace
}  // namespace mortise::cli
