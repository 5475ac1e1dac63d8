#include "tools/mortise/manual/man_page.hpp"

#include <gtest/gtest.h>

namespace mortise::cli {
namespace {

TEST(ManPage, IsThatOfACommand) {
    Command command{.name = "mortise locks", .purpose = "List locks"};
    command.options = {{.names = {"-h", "--help"}, .text = "Print this page"},
                       {.names = {"--peer"}, .argument = "HOST:PORT", .text = "A member"}};
    command.arguments = {{.argument = "PREFIX", .text = "Only names with this prefix"}};
    command.notes = "It's \\ a .note";
    command.examples = {{"mortise locks orders/", "Lists some."}};
    command.exit_codes = {{0, "success"}};
    EXPECT_EQ(man_page(command, "1.2.3"), R"(.TH MORTISE\-LOCKS 1 "" "mortise 1.2.3" "Mortise"
.SH NAME
mortise\-locks \- List locks
.SH SYNOPSIS
.nf
\fBmortise locks [OPTIONS] [PREFIX]\fR
.fi
.SH DESCRIPTION
List locks.
.SH ARGUMENTS
.TP
\fIPREFIX\fR
Only names with this prefix
.SH OPTIONS
.TP
\fB\-h\fR, \fB\-\-help\fR
Print this page
.TP
\fB\-\-peer\fR \fIHOST:PORT\fR
A member
.SH NOTES
It\(aqs \e a .note
.SH EXAMPLES
.TP
\fBmortise locks orders/\fR
Lists some.
.SH EXIT STATUS
.TP
\fB0\fR
success
.SH SEE ALSO
\fBmortise\fR(1)
)");
}

TEST(ManPage, OfTheProgramRefersToTheOthers) {
    Command program{.name = "mortise", .purpose = "Locks"};
    program.commands = {{.name = "mortise transfer-leader", .purpose = "Transfer it"}};
    const auto page = man_page(program, "1");
    EXPECT_NE(page.find(".SH COMMANDS\n.TP\n\\fBmortise\\-transfer\\-leader\\fR(1)\nTransfer it\n"),
              std::string::npos);
    EXPECT_EQ(page.find("SEE ALSO"), std::string::npos);
}

TEST(ManPage, HasTheCommandsBelowACommand) {
    Command add{.name = "mortise members add", .purpose = "Add a node"};
    add.options = {{.names = {"--json"}, .text = "Print JSON"}};
    add.exit_codes = {{0, "success"}};
    Command members{.name = "mortise members", .purpose = "List the members"};
    members.commands = {add};
    EXPECT_NE(man_page(members, "1").find(R"(.SH COMMANDS
.SS mortise members add [OPTIONS]
Add a node.
.TP
\fB\-\-json\fR
Print JSON
.PP
Exit codes:
.TP
\fB0\fR
success
)"),
              std::string::npos);
}

TEST(ManPage, ProtectsALineThatLooksLikeARequest) {
    Command command{.name = "mortise x", .purpose = "Do"};
    command.notes = ".so /etc/passwd";
    EXPECT_NE(man_page(command, "1").find("\n\\&.so /etc/passwd\n"), std::string::npos);
}

}  // namespace
}  // namespace mortise::cli
