# The protocol of a connection to a Mortise node.
#
# A connection is two-party Cap'n Proto RPC over TCP. The side that has requests opens it: a peer
# with messages to deliver, or a client. The called side offers a Gate and nothing else. After hello
# the caller holds the one capability that its purpose entitles it to, and the Gate is not used
# again. The purpose of a connection never changes:
#
#   replication   a peer's Raft messages and bootstrap offers       -> Peer
#   forwarding    requests of a peer's program to the leader, and
#                 a snapshot on its way to a peer that fell behind  -> Peer
#   client        a program that is not a member, or a client node  -> Member
#
# Messages between peers travel one way, on the connection that their sender opened; so two nodes
# have up to two connections for each purpose, one dialled by each (transport/README.md).
#
# Delivery is not guaranteed. Messages of peers may be lost, repeated and reordered between
# connections, and a sender that needs one repeats it; an answer to `send` only says that there is
# capacity for more. No call fails with an exception on purpose: an error that a caller should
# distinguish has a code in the answer. An exception means that the connection is unusable.
#
# Limits (transport/wire/message_limits.hpp) apply to every message before any of it is interpreted.
# A caller has at most 64 open questions, and uses Bootstrap, Call with its results to the caller,
# Finish and Release; anything else ends the connection. An exception contains no more than its
# type.
#
# Fields may be added; numbers are never reused. Both sides agree on a protocol version in the
# hello, before anything else is said.

@0xaa55df159bfe0ac0;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("mortise::wire");

# --- hello ---------------------------------------------------------------------------------------

interface Gate {
  hello @0 (hello :Hello) -> (answer :HelloAnswer);
  # The first call, and the only one before its answer; a second one on the same connection is
  # refused as busy. If the caller is a peer, everything that either side still had of an older
  # connection to the other is dropped before the called side says its half of the hello.
}

enum Purpose {
  replication @0;
  forwarding @1;
  client @2;
}

struct Hello {
  protocolLowest @0 :UInt16;   # the highest version that both sides speak is used
  protocolHighest @1 :UInt16;
  features @2 :UInt64;         # bits of features that both sides must have; none so far
  purpose @3 :Purpose;         # the answer repeats the caller's
  cluster @4 :ClusterId;       # zero: a node without a cluster yet, or a client that accepts any
  node @5 :UInt64;             # zero for clients
  incarnation @6 :UInt64;      # of the data directory; zero for clients
  bootEpoch @7 :UInt64;        # of this start of the node; zero for clients
  voters @8 :List(UInt64);     # as configured, ascending; compared at bootstrap
  life @9 :UInt64;             # random, drawn at each start; zero for clients
  commandFormat @10 :UInt8 = 1;  # the newest format of commands that it reads (docs/formats.md)
  address @11 :Data;           # where members reach it; empty: none in the cluster is known
  clusterName @12 :Data;       # as configured; empty: the node does not send it, and clients do not
  electionTimeout @13 :UInt64; # as configured, in nanoseconds; zero: the node does not send it
  heartbeat @14 :UInt64;       # likewise
  sessionTtl @15 :UInt64;      # likewise
  durability @16 :UInt8;       # as configured: 0 synced, 1 replicated
  forgetful @17 :Bool;         # it may have lost entries that it has acknowledged
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
  hello @3 :Hello;        # of the called side; absent if refused
}

struct Refused {
  reason @0 :Refusal;
  text @1 :Data;          # one sentence for a person, at most 256 bytes
}

enum Refusal {
  unspecified @0;
  malformed @1;     # a hello that no node of these versions sends
  protocol @2;      # no common version, or a feature that the other side lacks
  wrongCluster @3;  # both belong to a cluster, but not to the same
  unknownNode @4;   # the caller is not a node that this node knows
  wrongNode @5;     # the caller claims to be this node itself
  stale @6;         # a later start of the caller's directory was seen
  busy @7;          # too many connections; later calls may succeed
  stopping @8;
  noService @9;     # this node does not offer that purpose
  copied @10;       # a copy of the caller's directory is in use, and was seen first
  identity @11;     # the certificate of the connection names another node than the hello
  clusterName @12;  # the two are configured for clusters with different names
  idInUse @13;      # another node with the caller's id is connected, at that id's own address
}

# --- between peers -------------------------------------------------------------------------------

interface Peer {
  send @0 (messages :List(PeerMessage)) -> ();
  # One batch, in the order in which it was written. The answer comes when the batch has been
  # processed, and serves only flow control: a caller has a few calls in flight at most. A batch
  # with a malformed message ends the connection.
}

struct PeerMessage {
  # Forwarding carries forward and snapshotChunk, which are long and not urgent; replication carries
  # all others.
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

# Is this run of a voter still empty, now that every voter has said so once?
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
  sealedCommands @5;
  era @6;
}

struct Entry {
  # docs/formats.md describes the payload, its checksum and what the checksum covers: the bytes are
  # stored as they were received.
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
  # Only in the answer to a PreVoteRequest:
  tellsVote @3 :Bool;         # the sender tells for whom it voted in its term:
  votedFor @4 :UInt64;        # zero: for nobody
  configuration @5 :UInt64;   # the newest one that it has from before the term of the request
  # Not granted. The vote of a node that may have forgotten entries, which counts if all agree:
  ifAll @6 :Bool;
}

struct AppendRequest {
  # Without entries it is a heartbeat, or reports the commit index.
  term @0 :UInt64;
  previous @1 :LogId;
  commit @2 :UInt64;
  replicated @3 :UInt64;
  readRound @4 :UInt64;
  entries @5 :List(Entry);  # follow previous without a gap
  quiet @6 :Bool;  # needs no answer: tells only the commit index
  tellsTransfer @7 :Bool;  # the sender tells its followers whom it asks to take over:
  transferTarget @8 :UInt64;     # this voter; zero: nobody
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
  # A piece of the snapshot as of last.
  term @0 :UInt64;
  last @1 :LogId;
  configuration @2 :Data;  # in force at last; as the payload of an entry of that kind
  position @3 :UInt64;     # the position of the chunk in its snapshot, from zero
  rows @4 :List(Row);      # ascending by key, also from chunk to chunk; docs/formats.md
  done @5 :Bool;           # no chunk follows
  checksum @6 :UInt64;     # over all chunks so far
  cut @7 :Bool;  # the value of the last row continues in the next chunk, under the same key
}

struct Row {
  key @0 :Data;
  value @1 :Data;
}

struct SnapshotReply {
  term @0 :UInt64;
  last @1 :LogId;      # identifies the snapshot
  next @2 :UInt64;     # the position wanted next
  installed @3 :Bool;  # its log continues from last, durably
  refused @4 :Bool;    # it cannot use this snapshot
}

struct NotAMember {
  term @0 :UInt64;
  configuration @1 :LogId;  # the committed entry that removed the node
}

struct Forward {
  # The requests of one session, in the order of their sequence numbers. They follow those of the
  # previous Forward, or are resent.
  batch @0 :Data;  # commands; may be empty
  renewal @1 :Renewal;
}

struct StreamGap {
  # The leader expects the request with that number next from this session, and did not receive it.
  session @0 :UInt64;
  next @1 :UInt64;
}

struct Superseded {
  # The receiver is the run with this generation: its directory is older than what the sender has
  # heard of it, and nothing that it says counts.
  incarnation @0 :UInt64;
  bootEpoch @1 :UInt64;
  life @2 :UInt64;
}

struct Renewal {
  session @0 :UInt64;  # zero: none
  number @1 :UInt64;
}

struct MembershipGoal {
  # The requested result of a change.
  kind @0 :Kind;
  member @1 :UInt64;
  address @2 :Data;         # of a learner: where members reach it

  enum Kind {
    learner @0;
    voter @1;
    gone @2;
    leader @3;
    address @4;             # a member is reached there, and keeps its role
  }
}

struct MembershipRequest {
  # A request to the leader. Without a configuration it is only a query; with one, it has no effect
  # once another configuration or another term is in force.
  id @0 :UInt64;
  goal @1 :MembershipGoal;
  configuration @2 :UInt64; # log index
  term @3 :UInt64;
  begun @4 :Bool;           # from an earlier reply
}

struct MembershipReply {
  id @0 :UInt64;
  state @1 :State;
  why @2 :MembershipRefusal;  # notYet, refused
  configuration @3 :UInt64;   # looked: the configuration for the next request; likewise the term
  term @4 :UInt64;

  enum State {
    looked @0;
    begun @1;    # ask again whether it is done
    notYet @2;   # for a reason that resolves by itself: ask again
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
  # Any member can be asked; it passes a request on to the leader if only the leader can answer it.

  status @0 () -> (status :Status);

  list @1 (request :ListRequest) -> (answer :ListAnswer);
  # The locks whose names begin with a prefix, in byte order, one page at a time. A client with a
  # few pages in progress, or with answers that it has not read, gets resourceExhausted.

  inspect @2 (name :Data, local :Bool) -> (answer :ListAnswer);
  # One lock. An unused name is a lock without holders and waiters.

  change @3 (goal :MembershipGoal, patienceNs :UInt64) -> (answer :ChangeAnswer);
  # Passed on to the leader, and answered when the cluster has decided, within the given patience
  # and within the time limit of this member's own calls. Allowed if the caller's certificate
  # permits it (docs/decisions/0031); without TLS, for callers on the same machine
  # (docs/decisions/0016). A connection has one such request at a time.

  breakLock @4 (name :Data, token :UInt64, reason :Data, immediate :Bool) -> (answer :ChangeAnswer);
  # Executed like a call of this member's own program, and answered when the cluster has decided.
  # The same permissions and the same limit apply as for a change.

  say @5 (piece :Data) -> ();
  # For client nodes, which have a session but no copy of the log (docs/decisions/0051). The pieces
  # of all calls of a connection are one stream of messages of the client (docs/formats.md). The
  # answer comes late if the client has much under way; then it should say no more.

  hear @6 () -> (piece :Data);
  # The same in the other direction: answered when the member has something to report. A connection
  # has at most four such calls that wait.

  observe @7 (request :ObserveRequest) -> (answer :ObserveAnswer);
  # The next changes of the names with a prefix. Answered as soon as there are some, and after the
  # given patience without any. A connection has one observer, which a request begins or continues,
  # and one such request at a time.

  sessions @8 (request :SessionsRequest) -> (answer :SessionsAnswer);
  # The sessions of the cluster, ascending by id, one page at a time.

  evict @9 (session :UInt64, reason :Data, immediate :Bool) -> (answer :ChangeAnswer);
  # Like breakLock, for all that a session holds and waits for: it takes the right to break every
  # name. Declined until every member reads format 2 of commands.

  activity @10 (prefix :Data) -> (answer :ActivityAnswer);
  # Who waits for which names, and what happened in the last quarter of an hour, as this member has
  # applied it (docs/decisions/0082). The hottest names are those with the prefix.
}

struct ChangeAnswer {
  union {
    changed @0 :Void;
    refused @1 :MembershipRefusal;
    failed @2 :Failure;
    denied @3 :Void;    # this caller is not allowed to do that
  }
  deniedWhy @4 :Data;   # denied: the missing right, in one sentence
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
  leader @5 :UInt64;           # zero: unknown
  commit @6 :UInt64;
  applied @7 :UInt64;
  logFirst @8 :UInt64;  # the first entry in the log; the log is empty if last is less than first
  logLast @9 :UInt64;
  members @10 :List(MemberInfo);
  sessions @11 :UInt64;
  names @12 :UInt64;
  uptimeNs @13 :UInt64;
  version @14 :Data;           # of the library
  clusterName @15 :Data;       # as this member was configured
  session @16 :UInt64;         # of this member's own program; zero if there is none
  insecure @17 :Bool;          # other machines reach it without TLS
  removed @18 :Bool;           # it knows that it is not a member any more
  whyNotReady @19 :Data;       # for a person; empty: nothing beyond the other fields
  clientNodes @20 :UInt64;     # that it serves
  clientPlaces @21 :UInt64;    # for client nodes; zero: it does not say, or serves none
  durability @22 :UInt8;       # of the cluster, as this member knows it; see Hello
  forgetful @23 :Bool;         # see Hello; now
}

struct MemberInfo {
  node @0 :UInt64;
  incarnation @1 :UInt64;
  address @2 :Data;
  isVoter @3 :Bool;            # otherwise a learner
  isConnected @4 :Bool;        # to the answering member; true for that member itself
  match @5 :UInt64;            # as the leader knows it; zero elsewhere
  isLeaving @6 :Bool;          # a voter until its removal is committed
}

struct ListRequest {
  prefix @0 :Data;
  after @1 :Data;              # only names greater than this one
  limit @2 :UInt32;            # of locks; a page that grows too long ends earlier
  local @3 :Bool;              # the state of this member, instead of a linearizable read
}

struct ListAnswer {
  union {
    locks @0 :List(Lock);
    failed @1 :Failure;
    denied @2 :Data;           # this caller is not allowed: the missing right, in one sentence
  }
  more @3 :Bool;               # ask again, after the last name of this page
}

struct ObserveRequest {
  prefix @0 :Data;
  isOneName @1 :Bool;          # only the name that equals the prefix
  from @2 :Position;           # continue after it; not set: begin with the present state
  continues @3 :Bool;          # continue this connection's observer; the fields above do not count
  patienceNs @4 :UInt64;
}

struct Position {
  # In the stream of changes, which is the same on every member: after the change with this ordinal
  # in the entry with this index.
  index @0 :UInt64;            # zero: not set
  ordinal @1 :UInt32;
  cluster @2 :UInt32;          # a part of the id of the cluster whose stream it is; zero: unknown
}

struct ObserveAnswer {
  union {
    events @0 :List(Observed); # may be empty
    failed @1 :Failure;
    denied @2 :Data;           # this caller is not allowed: the missing right, in one sentence
  }
  reached @3 :Position;        # everything up to here was told; not set while a state is told
  more @4 :Bool;               # the next request is answered at once
  isReady @5 :Bool;            # as in Status; otherwise this member may be far behind the others
}

struct Observed {
  position @0 :Position;       # of a change or a complete state
  union {
    gap @1 :Void;              # what was told before does not count any more: the state follows
    state @2 :NameState;       # the present state of a name, or a part of it
    stateComplete @3 :Void;
    change @4 :NameChange;
  }
}

struct NameState {
  name @0 :Data;
  holders @1 :List(Holder);    # oldest first; at most the first 1,024
  value @2 :Data;
  valueVersion @3 :UInt64;     # zero: no value
  valueIsDirty @4 :Bool;
  origins @5 :List(Origin);    # of the sessions of these holders, in their order; or absent
}

struct NameChange {
  kind @0 :ChangeKind;
  name @1 :Data;
  hold @2 :Holder;             # whose node is zero if its session had ended before
  how @3 :HoldEnd;             # released
  value @4 :Data;              # valueSet
  valueVersion @5 :UInt64;
  valueIsDirty @6 :Bool;
  origin @7 :Origin;           # of the session of the hold, if it is open
}

enum ChangeKind {
  granted @0;
  converted @1;
  published @2;
  released @3;
  valueSet @4;
  valueRemoved @5;
  valueDirty @6;
  valueConsistent @7;
}

enum HoldEnd {
  none @0;
  clean @1;
  expired @2;
  broken @3;
}

struct SessionsRequest {
  after @0 :UInt64;            # only sessions with a greater id
  limit @1 :UInt32;
  local @2 :Bool;              # the state of this member, instead of a linearizable read
}

struct SessionsAnswer {
  union {
    sessions @0 :List(Session);
    failed @1 :Failure;
    denied @2 :Data;
  }
  more @3 :Bool;
}

struct Origin {
  # Where a session comes from, as its node says: for people only.
  host @0 :Data;
  program @1 :Data;
  pid @2 :UInt64;
  address @3 :Data;            # of a client node: as its member sees it
}

struct SessionOrigin {
  session @0 :UInt64;
  origin @1 :Origin;
}

struct Session {
  id @0 :UInt64;
  node @1 :UInt64;             # zero: a client
  ttlMs @2 :UInt32;
  knownNs @3 :UInt64;          # for how long this run of the answering member has known it
  leftNs @4 :Int64 = -1;       # of its lease, by this member's countdown; below zero: unknown
  holds @5 :UInt64;            # of how many names it has holds,
  waits @6 :UInt64;            # and for how many it waits
  label @7 :Data;              # of one of its holds
  origin @8 :Origin;
  ageNs @9 :Int64 = -1;        # since it was opened; below zero: unknown
}

struct ActivityAnswer {
  union {
    activity @0 :Activity;
    failed @1 :Failure;
    denied @2 :Data;
  }
}

struct Activity {
  node @0 :UInt64;             # whose view it is
  sessions @1 :UInt64;
  names @2 :UInt64;
  waiters @3 :UInt64;
  contended @4 :UInt64;        # names
  oldestWaitNs @5 :UInt64;
  hottest @6 :List(HotName);
  prefixes @7 :List(PrefixActivity);
  recent @8 :Rates;            # of all slots
  slots @9 :List(Rates);       # the oldest one first
  cluster @10 :Data;           # its configured name
  leader @11 :UInt64;          # zero: unknown
  members @12 :UInt64;
}

struct HotName {
  name @0 :Data;
  kind @1 :NameKind;
  holders @2 :UInt64;
  waiters @3 :UInt64;
  oldestWaitNs @4 :UInt64;
}

enum NameKind {
  lock @0;
  semaphore @1;
  latch @2;
  barrier @3;
}

struct PrefixActivity {
  prefix @0 :Data;             # empty: the names without any
  holders @1 :UInt64;
  waiters @2 :UInt64;
  contended @3 :UInt64;
  grants @4 :UInt64;           # since the member runs
  oldestWaitNs @5 :UInt64;
}

struct Rates {
  lengthNs @0 :UInt64;         # for how long it was counted
  grants @1 :UInt64;
  releases @2 :UInt64;
  losses @3 :UInt64;
  waitersMax @4 :UInt64;
  waitMedianNs @5 :UInt64;
  waitP99Ns @6 :UInt64;
  holdMedianNs @7 :UInt64;
  holdP99Ns @8 :UInt64;
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
  waiters @3 :List(Waiter);    # an upgrade first, the others in order of arrival
  value @4 :Data;              # absent in listings of several locks,
  valueVersion @5 :UInt64;     # which have only this; zero: no value
  valueIsDirty @6 :Bool;
  isClosed @7 :Bool;           # the name is closed by a former hold,
  closedUnder @8 :UInt64;      # which had this token
  holdersTotal @9 :UInt64;     # including holders that are left out above
  waitersTotal @10 :UInt64;
  closings @11 :List(Closing);  # why it is closed, the newest token first
  closingsTotal @12 :UInt64;
  limit @13 :UInt32;           # of a semaphore: how many permits it has,
  limitVersion @14 :UInt64;    # and which change that is; zero: another kind of name
  isLatch @15 :Bool;           # of a latch: that it is one,
  remaining @16 :UInt32;       # and what remains to be counted
  isBarrier @17 :Bool;         # of a barrier: that it is one,
  isBroken @18 :Bool;          # and whether it is broken,
  parties @19 :UInt32;         # its parties,
  arrived @20 :UInt32;         # how many have arrived in this phase,
  phase @21 :UInt64;           # how many phases have ended,
  members @22 :List(BarrierMember);  # and the sessions that take part, by id
  origins @23 :List(SessionOrigin);  # of those of holders and waiters that have one
}

struct BarrierMember {
  session @0 :UInt64;
  node @1 :UInt64;             # zero: the session has ended, and all its parties drop
  parties @2 :UInt32;          # of this session,
  arrived @3 :UInt32;          # of which so many have arrived in this phase
}

enum ClosureKind {
  broken @0;
  minHold @1;
  maxHold @2;
  lockDelay @3;
}

struct Closing {
  kind @0 :ClosureKind;
  token @1 :UInt64;            # a break with this token reopens the name
  leftNs @2 :Int64 = -1;       # at most, by this member's clock; below zero: unknown
}

struct Holder {
  operation @0 :Operation;
  mode @1 :LockMode;
  token @2 :UInt64;
  since @3 :UInt64;            # log index
  label @4 :Data;
  node @5 :UInt64;             # the node of the session; zero: a client node
  # How many tokens its node may give to its callers in turn, from `token` on; zero: not cached.
  cachedTokens @6 :UInt32;
  slots @7 :List(UInt32);      # of a semaphore, ascending
  ageNs @8 :Int64 = -1;        # in a listing: since the grant; below zero: unknown
}

struct Waiter {
  operation @0 :Operation;
  mode @1 :LockMode;
  since @2 :UInt64;
  label @3 :Data;
  node @4 :UInt64;             # the node of the session; zero: a client node
  upgrades @5 :UInt64;         # the sequence number of the hold to be upgraded; else zero
  priority @6 :UInt8;
  permits @7 :UInt32;          # of a semaphore; zero: of a lock
  ageNs @8 :Int64 = -1;        # since the request; below zero: unknown
}
