# What is said on a connection to a Mortise node.
#
# A connection is two-party Cap'n Proto RPC over TCP, opened by whoever wants something: a peer that
# has messages to deliver, or a client. Whoever is called offers a Gate and nothing else. After
# hello the caller holds the one capability that its purpose entitles it to, and the Gate has done
# its work. A connection serves one purpose for all its life:
#
#   replication   a peer's Raft messages and founding offers      -> Peer
#   forwarding    what a peer's program asks of the leader, and
#                 a state on its way to a peer that fell behind   -> Peer
#   client        a program that is no member                     -> Member
#
# Messages between peers travel one way, on the connection that their sender opened; so two nodes
# have up to two connections for each purpose, one dialled by each (transport/README.md).
#
# Nothing here need arrive. Peers' messages may be lost, repeated and reordered between connections,
# and whoever needs one sends it again; an answer to send only says that there is room for more. No
# call fails with an exception on purpose: what a caller should tell apart has a code in its answer.
# An exception means that the connection is of no more use.
#
# Limits (transport/wire/limits.hpp) apply to every message before any of it is interpreted. A
# caller has at most 64 questions open, and uses Bootstrap, Call with its results to the caller,
# Finish and Release; anything else ends the connection. An exception says no more than its type.
#
# Fields may be added, numbers are never used again. The protocol versions that both sides speak are
# found out by hello, before anything else is said.

@0xaa55df159bfe0ac0;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("mortise::wire");

# --- hello ---------------------------------------------------------------------------------------

interface Gate {
  hello @0 (hello :Hello) -> (answer :HelloAnswer);
  # The first call, and the only one before its answer; again on the same connection it is refused
  # as busy. Where the caller is a peer, everything that either side still had of an older
  # connection to the other is dropped before it says its half of the hello.
}

enum Purpose {
  replication @0;
  forwarding @1;
  client @2;
}

struct Hello {
  protocolLowest @0 :UInt16;   # the highest version that both speak is spoken
  protocolHighest @1 :UInt16;
  features @2 :UInt64;         # bits, of things that both must have; none so far
  purpose @3 :Purpose;         # the answer repeats the caller's
  cluster @4 :ClusterId;       # zero: a node that was never part of one; a client that takes any
  node @5 :UInt64;             # zero for clients
  incarnation @6 :UInt64;      # of the data directory; zero for clients
  bootEpoch @7 :UInt64;        # of this start on it; zero for clients
  voters @8 :List(UInt64);     # as configured, ascending; compared when a cluster is formed
  life @9 :UInt64;             # drawn by chance at each start; zero for clients
  commandFormat @10 :UInt8 = 1;  # the newest form of commands that it reads (docs/formats.md)
  address @11 :Data;           # where the members find it; empty: of no member, as far as it knows
  clusterName @12 :Data;       # as configured; empty: the node does not say, and clients do not
  electionTimeout @13 :UInt64; # as configured, in nanoseconds; zero: the node does not say
  heartbeat @14 :UInt64;       # likewise
  sessionTtl @15 :UInt64;      # likewise
}

struct ClusterId {
  high @0 :UInt64;
  low @1 :UInt64;
}

struct HelloAnswer {
  union {
    refused @0 :Refused;
    peer @1 :Peer;        # replication, forwarding
    member @2 :Member;    # client
  }
  hello @3 :Hello;        # of whoever answers; not when refused
}

struct Refused {
  reason @0 :Refusal;
  text @1 :Data;          # one sentence for a person, at most 256 bytes
}

enum Refusal {
  unspecified @0;
  malformed @1;     # a hello that no node of these versions says
  protocol @2;      # no version in common, or a feature that the other lacks
  wrongCluster @3;  # both belong to one, and it is not the same
  unknownNode @4;   # the caller is nobody that this node was told of
  wrongNode @5;     # the caller says that it is this very node
  stale @6;         # a newer start of the caller's directory was here before
  busy @7;          # too many connections: later, perhaps
  stopping @8;
  noService @9;     # nothing of that purpose is offered here
  copied @10;       # a copy of the caller's directory is in use, and was here first
  identity @11;     # the certificate of the connection names somebody else than the hello
  clusterName @12;  # the two are configured for clusters of different names
  idInUse @13;      # another node with the caller's id is connected, at that id's own address
}

# --- between peers -------------------------------------------------------------------------------

interface Peer {
  send @0 (messages :List(PeerMessage)) -> ();
  # One batch, in the order in which it was written. The answer comes when the batch was taken in,
  # and is there for flow control alone: a caller has a few calls in flight at most. A batch with
  # anything malformed in it ends the connection.
}

struct PeerMessage {
  # Forwarding carries forward and snapshotChunk, which are long and may wait; replication all the
  # others.
  union {
    preVoteRequest @0 :PreVoteRequest;
    preVoteReply @1 :VoteReply;
    voteRequest @2 :VoteRequest;
    voteReply @3 :VoteReply;
    appendRequest @4 :AppendRequest;
    appendReply @5 :AppendReply;
    timeoutNow @6 :TimeoutNow;
    readRequest @7 :ReadRequest;
    readReply @8 :ReadReply;
    formationOffer @9 :Entry;
    forward @10 :Forward;
    snapshotChunk @11 :SnapshotChunk;
    snapshotReply @12 :SnapshotReply;
    notAMember @13 :NotAMember;
    membershipRequest @14 :MembershipRequest;
    membershipReply @15 :MembershipReply;
    superseded @16 :Superseded;
    formationQuestion @17 :FormationQuestion;
    formationAnswer @18 :FormationAnswer;
    streamGap @19 :StreamGap;
  }
}

# Is this life of a voter still empty, now that every voter said once that it is?
struct FormationQuestion {
  round @0 :UInt64;
  life @1 :UInt64;
}

struct FormationAnswer {
  round @0 :UInt64;
}

struct LogId {
  term @0 :UInt64;
  index @1 :UInt64;
}

enum EntryKind {
  unspecified @0;
  noop @1;
  configuration @2;
  commands @3;
  stateSum @4;
}

struct Entry {
  # The payload, its checksum and what that covers are described in docs/formats.md: bytes are
  # stored as they came.
  term @0 :UInt64;
  index @1 :UInt64;
  checksum @2 :UInt64;
  kind @3 :EntryKind;
  payload @4 :Data;
}

struct PreVoteRequest {
  term @0 :UInt64;
  round @1 :UInt64;
  last @2 :LogId;
}

struct VoteRequest {
  term @0 :UInt64;
  round @1 :UInt64;
  last @2 :LogId;
  transfer @3 :Bool;
}

struct VoteReply {
  term @0 :UInt64;
  round @1 :UInt64;
  granted @2 :Bool;
}

struct AppendRequest {
  # No entries: a heartbeat, or news of the commit index.
  term @0 :UInt64;
  previous @1 :LogId;
  commit @2 :UInt64;
  replicated @3 :UInt64;
  readRound @4 :UInt64;
  entries @5 :List(Entry);  # follow previous without a gap
}

struct AppendReply {
  term @0 :UInt64;
  readRound @1 :UInt64;
  rejected @2 :Bool;
  match @3 :UInt64;
  previous @4 :UInt64;
  hint @5 :LogId;
  runOut @6 :List(RunOut);
  closuresRunOut @7 :List(UInt64);
}

struct RunOut {
  session @0 :UInt64;
  renewedAt @1 :UInt64;
}

struct TimeoutNow {
  term @0 :UInt64;
  last @1 :LogId;
}

struct ReadRequest {
  term @0 :UInt64;
  id @1 :UInt64;
}

struct ReadReply {
  term @0 :UInt64;
  id @1 :UInt64;
  index @2 :UInt64;
}

struct SnapshotChunk {
  # A piece of the state as of last.
  term @0 :UInt64;
  last @1 :LogId;
  configuration @2 :Data;  # in force at last; as the payload of an entry of that kind
  position @3 :UInt64;     # counts the chunks of one state from zero
  rows @4 :List(Row);      # ascending by key, also from chunk to chunk; docs/formats.md
  done @5 :Bool;           # no chunk follows
  checksum @6 :UInt64;     # over all chunks so far
  cut @7 :Bool;            # the value of the last row goes on in the next chunk, under the same key
}

struct Row {
  key @0 :Data;
  value @1 :Data;
}

struct SnapshotReply {
  term @0 :UInt64;
  last @1 :LogId;      # the state that is meant
  next @2 :UInt64;     # the position wanted next
  installed @3 :Bool;  # its log goes on from last, durably
  refused @4 :Bool;    # it can make nothing of this state
}

struct NotAMember {
  term @0 :UInt64;
  configuration @1 :LogId;  # the committed entry that says so
}

struct Forward {
  # The requests of one session, in the order of their numbers. They follow those of the Forward
  # before, or are sent again.
  batch @0 :Data;  # of commands, or nothing
  renewal @1 :Renewal;
}

struct StreamGap {
  # The leader takes this session's requests from that number on, and misses it.
  session @0 :UInt64;
  next @1 :UInt64;
}

struct Superseded {
  # To this life: the directory is older than what was heard of it, and nothing that it says counts.
  incarnation @0 :UInt64;
  bootEpoch @1 :UInt64;
  life @2 :UInt64;
}

struct Renewal {
  session @0 :UInt64;  # zero: none
  number @1 :UInt64;
}

struct MembershipGoal {
  # What somebody wants to be so.
  kind @0 :Kind;
  member @1 :UInt64;
  address @2 :Data;         # of a learner, which is to be reached there

  enum Kind {
    learner @0;
    voter @1;
    gone @2;
    leader @3;
    address @4;             # a member is reached there, and stays what it is
  }
}

struct MembershipRequest {
  # To the leader. Without a configuration it is only a look; with one, it does nothing once another
  # one is in force, or another term.
  id @0 :UInt64;
  goal @1 :MembershipGoal;
  configuration @2 :UInt64; # log index
  term @3 :UInt64;
  begun @4 :Bool;           # as an earlier reply said
}

struct MembershipReply {
  id @0 :UInt64;
  state @1 :State;
  why @2 :MembershipRefusal;  # notYet, refused
  configuration @3 :UInt64;   # looked: what to ask with; likewise the term
  term @4 :UInt64;

  enum State {
    looked @0;
    begun @1;    # ask again whether it is done
    notYet @2;   # for a reason that passes by itself: ask again
    refused @3;
    done @4;
  }
}

enum MembershipRefusal {
  notLeader @0;
  leaderNotReady @1;
  changeInProgress @2;
  unknownMember @3;
  alreadyMember @4;
  alreadyVoter @5;
  notConnected @6;
  otherCluster @7;
  notCaughtUp @8;
  lastVoter @9;
  wouldLoseQuorum @10;
  tooManyMembers @11;
  invalidAddress @12;
  notAVoter @13;
  overtaken @14;
  tooOld @15;
  notAllowed @16;
  notAMembersCertificate @17;
  notAVotersCertificate @18;
}

# --- for clients ---------------------------------------------------------------------------------

interface Member {
  # Any member will do; what only the leader can do it passes on.

  status @0 () -> (status :Status);

  list @1 (request :ListRequest) -> (answer :ListAnswer);
  # The locks whose names begin with a prefix, in byte order, a page at a time. Whoever has a few
  # pages under way, or answers that it has not read, is told resourceExhausted.

  inspect @2 (name :Data, local :Bool) -> (answer :ListAnswer);
  # One lock. A name that nobody uses is a lock without holders and waiters.

  change @3 (goal :MembershipGoal, patienceNs :UInt64) -> (answer :ChangeAnswer);
  # Passed on to the leader, and answered when the cluster has; within the patience, and within what
  # this member takes for its own calls. For callers whose certificate allows it
  # (docs/decisions/0031); without TLS, for those on the same machine (docs/decisions/0016). One at
  # a time for each connection.

  breakLock @4 (name :Data, token :UInt64, reason :Data, immediate :Bool) -> (answer :ChangeAnswer);
  # As this member's own program would, and answered when the cluster has. For the same callers, and
  # one at a time with those.
}

struct ChangeAnswer {
  union {
    changed @0 :Void;
    refused @1 :MembershipRefusal;
    failed @2 :Failure;
    denied @3 :Void;    # not for this caller
  }
  deniedWhy @4 :Data;   # denied: what was missing, in one sentence
}

enum Role {
  follower @0;
  preCandidate @1;
  candidate @2;
  leader @3;
}

struct Status {
  node @0 :UInt64;
  cluster @1 :ClusterId;
  role @2 :Role;
  ready @3 :Bool;              # a leader is known, and this member is not far behind it
  term @4 :UInt64;
  leader @5 :UInt64;           # zero: none known
  commit @6 :UInt64;
  applied @7 :UInt64;
  logFirst @8 :UInt64;         # what the log still has: empty when last is before first
  logLast @9 :UInt64;
  members @10 :List(MemberInfo);
  sessions @11 :UInt64;
  names @12 :UInt64;
  uptimeNs @13 :UInt64;
  version @14 :Data;           # of the library
  clusterName @15 :Data;       # as this member was configured
  session @16 :UInt64;         # of this member's own program; zero while it has none
  insecure @17 :Bool;          # other machines reach it, without TLS
  removed @18 :Bool;           # it is no member any more, and knows so
  whyNotReady @19 :Data;       # for a person; empty: nothing more than the rest tells
}

struct MemberInfo {
  node @0 :UInt64;
  incarnation @1 :UInt64;
  address @2 :Data;
  isVoter @3 :Bool;            # or a learner
  isConnected @4 :Bool;        # to the member that says so, which is connected to itself
  match @5 :UInt64;            # as the leader knows it; zero elsewhere
  isLeaving @6 :Bool;          # a voter until its removal is committed
}

struct ListRequest {
  prefix @0 :Data;
  after @1 :Data;              # only names behind this one
  limit @2 :UInt32;            # of locks; the page ends earlier when it grows too long
  local @3 :Bool;              # what this member has applied, instead of a linearizable read
}

struct ListAnswer {
  union {
    locks @0 :List(Lock);
    failed @1 :Failure;
    denied @2 :Data;           # not for this caller: what was missing, in one sentence
  }
  more @3 :Bool;               # ask again, after the last name of this page
}

enum Failure {
  unspecified @0;
  timedOut @1;
  cancelled @2;
  sessionExpired @3;
  lockLost @4;
  notHeld @5;
  outcomeUnknown @6;
  noQuorum @7;
  resourceExhausted @8;
  kindMismatch @9;
  nodeStopped @10;
  deadlock @11;
  invalidArgument @12;
}

enum LockMode {
  intentShared @0;
  intentExclusive @1;
  shared @2;
  sharedIntentExclusive @3;
  update @4;
  exclusive @5;
}

enum QueuePolicy {
  phaseFair @0;
  fifo @1;
  preferReaders @2;
  preferWriters @3;
}

struct Operation {
  session @0 :UInt64;
  seq @1 :UInt64;
}

struct Lock {
  name @0 :Data;
  policy @1 :QueuePolicy;
  holders @2 :List(Holder);    # oldest first
  waiters @3 :List(Waiter);    # an upgrade first, the others in the order in which they came
  value @4 :Data;              # listings of several leave it out,
  valueVersion @5 :UInt64;     # and say this; zero: there is none
  valueIsDirty @6 :Bool;
  isClosed @7 :Bool;           # kept shut by somebody who does not hold it any more,
  closedUnder @8 :UInt64;      # under this token
  holdersTotal @9 :UInt64;     # with those that are left out above
  waitersTotal @10 :UInt64;
  closings @11 :List(Closing);  # why it is closed: newest token first
  closingsTotal @12 :UInt64;
}

enum ClosureKind {
  broken @0;
  minHold @1;
  maxHold @2;
  lockDelay @3;
}

struct Closing {
  kind @0 :ClosureKind;
  token @1 :UInt64;            # a break under it opens what it keeps closed
  leftNs @2 :Int64 = -1;       # at most, as this member counts; below zero: not known
}

struct Holder {
  operation @0 :Operation;
  mode @1 :LockMode;
  token @2 :UInt64;
  since @3 :UInt64;            # log index
  label @4 :Data;
  node @5 :UInt64;             # whose session it is
}

struct Waiter {
  operation @0 :Operation;
  mode @1 :LockMode;
  since @2 :UInt64;
  label @3 :Data;
  node @4 :UInt64;
  upgrades @5 :UInt64;         # seq of the hold that is to become exclusive; else zero
  priority @6 :UInt8;
}
