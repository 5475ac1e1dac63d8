/* P1-P3 across losses of power, where a majority of memories acknowledges (decision 0095).
 *
 * Three voters, one name, and processes that outlive the machines. A session opens, gets the name
 * and believes in it as long as its lease lasts. Nobody gives the name back: only an era frees it.
 * Any voter loses power at any time. It keeps its term, and of its log all up to the last synced
 * write, and as much of the rest as it likes. So a sync in the background needs no step of its own:
 * it is a loss that takes less.
 *
 * A voter gets all that its leader has appended, and acknowledges it, in one step; both sync what
 * is sealed. An election is a step, too: an earlier vote would give the same election earlier.
 * Any two of the three may elect, any leader may be deposed without knowing it, and a message is
 * late because its step is. What lateness does to Raft itself, tests/explore searches for on the
 * real code. Voters have no names: states that differ in their order alone are one.
 *
 * Time: lease.pml shows that a lease, by the slowest good clock, is over when the countdowns of a
 * quorum are, by the fastest good clock. So both last TTL ticks of true time here. A lease is
 * renewed whenever its leader has an acknowledgement: no request was sent later than that. The
 * countdown for an era begins when the era is committed: nobody can apply it before.
 *
 * Asserted: two sessions never believe at once; a token is above all tokens granted before it, also
 * the forgotten ones; each log that is elected knows all sessions that were ever opened, and, if no
 * era begins with it, all grants; an era loses no grant that any voter still has; two voters that
 * have forgotten nothing vote for a leader without an era; a term has one leader.
 *
 * A log is compared by the term of its last entry. So the first entry of each term has to be as
 * durable as a sealed one (NOOP_NOT_SYNCED): else what was committed in a term looks older after a
 * loss than what a deposed leader appended alone, and that is elected, sealed entries or not.
 *
 * Each -D switch below, but for the sizes, breaks one rule or one assumption, and must be refuted.
 */
#ifndef LOSSES
#define LOSSES 2                   /* of power, of one voter each */
#endif
#ifndef ELECTIONS
#define ELECTIONS 2
#endif
#ifndef SESSIONS
#define SESSIONS 2
#endif
#ifndef TOGETHER
#define TOGETHER 0                 /* 1: a session opens also while another one is open */
#endif
#ifndef LENGTH
#define LENGTH 10                  /* of a log */
#endif
#ifndef UNDER_WAY
#define UNDER_WAY 2                /* entries of a leader that are not committed */
#endif
#define TTL 1                      /* ticks */
#ifdef SLOW_HOLDER                 /* assumption broken: the holder's clock is slower than 1-rho */
#define LEASE (TTL+1)
#else
#define LEASE TTL
#endif

/* An entry is a kind, of a session `s` or of none, and 16 times its term. */
#define NOOP      1
#define CEILING   2                /* raises the ceiling to the next token */
#define ERA       3
#define REOPEN    4                /* the countdowns of a quorum have run */
#define OPEN      5
#define GRANT     8
#define SEALED    11               /* a grant in a sealed entry */
#define KIND(entry)    ((entry) & 15)
#define TERM_OF(entry) ((entry) >> 4)
#define IS(kind, first) ((kind) >= (first) && (kind) < (first) + SESSIONS)

#ifdef OPENING_NOT_SEALED
#define IS_SEALED_OPENING(kind) false
#else
#define IS_SEALED_OPENING(kind) IS(kind, OPEN)
#endif
#ifdef CEILING_NOT_SYNCED
#define IS_SEALED_CEILING(kind) false
#else
#define IS_SEALED_CEILING(kind) ((kind) == CEILING)
#endif
#ifdef NOOP_NOT_SYNCED             /* what was committed in a term may look older than it is */
#define IS_SEALED_NOOP(kind) false
#else
#define IS_SEALED_NOOP(kind) ((kind) == NOOP)
#endif
#define IS_SYNCED(kind) (IS_SEALED_OPENING(kind) || IS_SEALED_CEILING(kind) \
                         || IS_SEALED_NOOP(kind) || (kind) == ERA || IS(kind, SEALED))

#define BIT(mask, i)  (((mask) >> (i)) & 1)
#define SET(mask, i)  mask = mask | (1 << (i))
#define DROP(mask, i) mask = mask & ~(1 << (i))
#define MAX(a, b)     ((a) > (b) -> (a) : (b))

/* The voters. */
byte term[3];
byte log[3*LENGTH];
byte end[3], synced[3];           /* how many entries, and how many of them on disk */
byte forgetful, leads;             /* masks */
byte commit[3];                    /* of a leader, once it has committed in its own term; or 0 */
#ifdef READ_BEFORE_THE_HELLO
byte answer[3];                    /* of a read that an earlier run asked for; or 0 */
#define SWAP_ANSWERS(v, w) SWAP(answer[v], answer[w])
#else
#define SWAP_ANSWERS(v, w) skip
#endif
#define ENTRY(v, i) log[(v)*LENGTH + (i)]
#define LAST(v)     ENTRY(v, end[v]-1)
#define HAS_ROOM(v) (end[v] < LENGTH)

/* The processes, and the countdown for the newest era. */
byte lease[3];                     /* what is left of it */
byte left;
byte counts_for;                   /* the term of that era */

/* What was committed, and what the properties need. */
byte opened;                       /* mask of sessions */
byte token[3];                     /* that the session was granted; or 0 */
byte top;
byte given[3];                     /* the entry that granted it since the last era; or 0 */
byte led;                          /* mask of terms */
byte losses = LOSSES, elections = ELECTIONS;

#define BELIEVES(s) (token[s] != 0 && lease[s] > 0)
#define EXCLUSIVE assert(!(BELIEVES(0) && BELIEVES(1)) && !(BELIEVES(0) && BELIEVES(2)) \
                         && !(BELIEVES(1) && BELIEVES(2)))
#ifdef ONLY_EXCLUSION              /* no other property, so that it has to be this one that fails */
#define ALSO(property) skip
#else
#define ALSO(property) assert(property)
#endif

/* Scratch, zero between steps. */
byte a, b, k, i, s, kind, m;
/* Two voters, or one, for which the guard holds. */
#define PAIR(guard, v, w) d_step { guard(v, w) -> a = v; b = w }
#define A_PAIR(guard) \
  if :: PAIR(guard, 0, 1) :: PAIR(guard, 0, 2) :: PAIR(guard, 1, 0) :: PAIR(guard, 1, 2) \
     :: PAIR(guard, 2, 0) :: PAIR(guard, 2, 1) fi; skip
#define A_VOTER(guard) \
  if :: d_step { guard(0) -> a = 0 } :: d_step { guard(1) -> a = 1 } \
     :: d_step { guard(2) -> a = 2 } fi; skip

/* --- the state that a log leads to; scratch of one step */

byte kept, survived;
byte live, known;  /* masks of sessions; `known`: opened, ended or not */
byte newest, ceiling, closure;
bool taken, closed;
byte era;                   /* its term */

inline begin_era(v) {
  era = TERM_OF(ENTRY(v, i));
#ifdef ERA_FORGETS_CLOSURE         /* of an era that no session has seen */
  closure = 0;
#endif
  if :: live != 0 -> closure = TTL :: else fi;
#ifndef OPENS_AT_ONCE
  closed = 1;
#endif
  live = 0; taken = 0;
#ifdef ERA_FROM_THE_CEILING        /* also where sealed entries have granted tokens above it */
  newest = ceiling
#elif !defined(ERA_FROM_THE_NEWEST)
  newest = MAX(newest, ceiling)
#endif
}

/* The first `count` entries; those from `from` on are committed by this step. */
inline apply(v, count, from) {
  live = 0; known = 0; newest = 0; ceiling = 0; closure = 0;
  taken = 0; closed = 0; era = 0; i = 0;
  do
  :: i < count ->
       kind = KIND(ENTRY(v, i));
       if
       :: kind == CEILING -> ceiling = newest + 1
       :: kind == ERA ->
            begin_era(v);
            if
            :: i >= from && era > counts_for ->
                 counts_for = era; left = closure;
                 given[0] = 0; given[1] = 0; given[2] = 0
            :: else
            fi
       :: kind == REOPEN -> closed = 0; closure = 0
       :: IS(kind, OPEN) ->
            SET(live, kind - OPEN); SET(known, kind - OPEN);
            if :: i >= from -> SET(opened, kind - OPEN) :: else fi
       :: kind >= GRANT ->
            s = (kind >= SEALED -> kind - SEALED : kind - GRANT);
            newest++; taken = 1;
            if
            :: i >= from && token[s] == 0 ->
                 ALSO(newest > top);
                 token[s] = newest; top = MAX(top, newest); given[s] = ENTRY(v, i)
            :: else -> ALSO(i < from || token[s] == newest)
            fi
       :: else
       fi;
       i++
  :: else -> break
  od
}

/* --- steps of a leader */

inline append(v, what) {
  ENTRY(v, end[v]) = what + 16*term[v]; end[v]++
}

#ifdef ABOVE_THE_CEILING
#define NEEDS_A_SEAL false
#else
#define NEEDS_A_SEAL (newest >= ceiling)
#endif
#define MAY_OPEN(s)  (s < SESSIONS && !closed && (live == 0 || TOGETHER) && !BIT(known, s))
#define MAY_GRANT(s) (!closed && BIT(live, s) && !taken)
#define A_GRANT      (NEEDS_A_SEAL -> SEALED : GRANT)
#define MAY_RAISE    (newest >= ceiling)
#define MAY_REOPEN   (closed && counts_for == era && left == 0)

#define MAY_APPEND(v) \
  (BIT(leads, v) && HAS_ROOM(v) && commit[v] != 0 && end[v] < commit[v] + UNDER_WAY)

/* A sync covers all before it. */
inline sync(v) {
  i = synced[v];
  do
  :: i < end[v] -> i++; if :: IS_SYNCED(KIND(ENTRY(v, i-1))) -> synced[v] = i :: else fi
  :: else -> break
  od
}

/* How many entries they have in common. */
inline compare(v, w) {
  m = 0;
  do
  :: m < end[v] && m < end[w] && ENTRY(v, m) == ENTRY(w, m) -> m++
  :: else -> break
  od
}

inline follow(v, leader) {
  term[v] = term[leader];
  if :: BIT(leads, v) -> DROP(leads, v); commit[v] = 0 :: else fi
}

inline copy(from, to) {
  compare(from, to);
  if
  :: m < end[to] ->                /* a write that truncates is synced */
       i = m; do :: i < end[to] -> ENTRY(to, i) = 0; i++ :: else -> break od;
       synced[to] = end[from]
  :: else
  fi;
  i = m; do :: i < end[from] -> ENTRY(to, i) = ENTRY(from, i); i++ :: else -> break od;
  end[to] = end[from]
}

#define MAY_REPLICATE(leader, v) (BIT(leads, leader) && term[v] <= term[leader])

inline renew_leases() {
  s = 0;
  do
  :: s < SESSIONS -> if :: BIT(live, s) -> lease[s] = LEASE :: else fi; s++
  :: else -> break
  od
}

/* The voter acknowledges the whole log; that is a majority. */
inline replicate(leader, v) {
  follow(v, leader);
  copy(leader, v);
  sync(v); sync(leader);
  apply(leader, end[leader], commit[leader]);
  commit[leader] = end[leader];
  renew_leases();
  EXCLUSIVE
}

/* --- an election */

#define IS_BEHIND(v, w) (TERM_OF(LAST(v)) < TERM_OF(LAST(w)) \
                         || (TERM_OF(LAST(v)) == TERM_OF(LAST(w)) && end[v] < end[w]))
#define IN(v, voters) (BIT(voters, v))
#define AGREES(v, c, voters) (!IN(v, voters) || !IS_BEHIND(c, v))
#define COUNT(mask) (BIT(mask, 0) + BIT(mask, 1) + BIT(mask, 2))
#define RECALLS(voters) COUNT((voters) & ~forgetful)
#ifdef FORGETFUL_VOTES
#define ELECT(voters) true
#else
#define ELECT(voters) (RECALLS(voters) >= 2)
#endif
#ifdef ERA_BY_MAJORITY
#define IF_ALL(voters) true
#else
#define IF_ALL(voters) ((voters) == 7)
#endif
#define MAY_LEAD(c, voters) \
  (elections > 0 && HAS_ROOM(c) && (ELECT(voters) || IF_ALL(voters)) \
   && AGREES(0, c, voters) && AGREES(1, c, voters) && AGREES(2, c, voters))

#define GIVEN ((given[0] != 0) + 2*(given[1] != 0) + 4*(given[2] != 0))

/* Which of these grants this voter has. */
inline survey(v) {
  i = 0;
  do
  :: i < end[v] ->
       s = 0;
       do
       :: s < SESSIONS -> if :: ENTRY(v, i) == given[s] -> SET(survived, s) :: else fi; s++
       :: else -> break
       od;
       i++
  :: else -> break
  od
}

inline vote(v, voters) {
  if
  :: IN(v, voters) ->
       term[v] = m; if :: BIT(leads, v) -> DROP(leads, v); commit[v] = 0 :: else fi
  :: else
  fi
}

inline elect(c, voters) {
  m = 0;
  if :: IN(0, voters) -> m = MAX(m, term[0]) :: else fi;
  if :: IN(1, voters) -> m = MAX(m, term[1]) :: else fi;
  if :: IN(2, voters) -> m = MAX(m, term[2]) :: else fi;
  m++;
  apply(c, end[c], LENGTH);
  ALSO((opened & ~known) == 0);    /* no session is open that the voters do not know */
  ALSO(!BIT(led, m)); SET(led, m);
  survey(c); kept = survived;
  vote(0, voters); vote(1, voters); vote(2, voters);
  SET(leads, c); synced[c] = end[c];       /* with its own vote */
  if
  :: ELECT(voters) ->
       ALSO(RECALLS(voters) >= 2);
       ALSO(kept == GIVEN);
       append(c, NOOP)
  :: else ->
       survey(0); survey(1); survey(2);
       ALSO(kept == survived);
       append(c, ERA)
  fi;
  elections--
}

/* --- a loss of power, and what follows */

#define MAY_LOSE(v) (losses > 0)

inline lose_power(v, keeps) {
  i = keeps; do :: i < end[v] -> ENTRY(v, i) = 0; i++ :: else -> break od;
  end[v] = keeps; synced[v] = keeps;
  SET(forgetful, v); DROP(leads, v); commit[v] = 0;
#ifdef TERM_NOT_SYNCED
  term[v] = TERM_OF(LAST(v));
#endif
  losses--
}

#define CONFIRMS(v, leader) (BIT(leads, leader) && commit[leader] != 0 && term[v] <= term[leader])

#define MAY_RECOVER(v, leader) (BIT(forgetful, v) && CONFIRMS(v, leader))
#define MAY_CONFIRM(leader, v) (BIT(forgetful, leader) && CONFIRMS(v, leader))
#ifdef READ_BEFORE_THE_HELLO       /* the answer to a read of the former run is taken */
#define MAY_READ(v, leader) (!BIT(forgetful, v) && CONFIRMS(v, leader))
#define MAY_USE(v, leader)  (BIT(forgetful, v) && answer[v] != 0 && CONFIRMS(v, leader))
#endif

/* It has all that is committed, and writes it. */
inline recover(v, leader, index) {
  compare(v, leader);
  if
  :: m >= index -> synced[v] = MAX(synced[v], index); DROP(forgetful, v)
  :: else
  fi
}

/* --- the end of a step: voters in order, scratch cleared */

#define RANK(v) ((((end[v]*16 + synced[v])*16 + commit[v])*16 + term[v])*4 \
                 + 2*BIT(forgetful, v) + BIT(leads, v))
#define SWAP(x, y) m = x; x = y; y = m
#define SWAP_BITS(mask, v, w) \
  mask = (BIT(mask, v) == BIT(mask, w) -> mask : mask ^ ((1 << (v)) | (1 << (w))))

inline order(v, w) {
  if
  :: RANK(v) < RANK(w) ->
       i = 0; do :: i < end[w] -> SWAP(ENTRY(v, i), ENTRY(w, i)); i++ :: else -> break od;
       SWAP(end[v], end[w]); SWAP(synced[v], synced[w]); SWAP(commit[v], commit[w]);
       SWAP(term[v], term[w]);
       SWAP_BITS(forgetful, v, w); SWAP_BITS(leads, v, w);
       SWAP_ANSWERS(v, w)
  :: else
  fi
}

inline done() {
  order(0, 1); order(1, 2); order(0, 1);
  live = 0; known = 0; kept = 0; survived = 0; newest = 0; ceiling = 0; closure = 0;
  taken = 0; closed = 0; era = 0; a = 0; b = 0; k = 0; i = 0; s = 0; kind = 0; m = 0
}

init {
  d_step {
    term[0] = 1; term[1] = 1; term[2] = 1; led = 2; leads = 1;
    end[0] = 1; end[1] = 1; end[2] = 1; synced[0] = 1; synced[1] = 1; synced[2] = 1;
    log[0] = NOOP + 16; log[LENGTH] = NOOP + 16; log[2*LENGTH] = NOOP + 16; commit[0] = 1;
  }
  do
  /* Before a countdown runs, no lease has to be spent: a longer one only allows more. */
  :: d_step { left > 0 ->
       if :: lease[0] > 0 -> lease[0]-- :: else fi;
       if :: lease[1] > 0 -> lease[1]-- :: else fi;
       if :: lease[2] > 0 -> lease[2]-- :: else fi;
       left-- }

  /* A leader appends what changes something where it will be applied. */
  :: atomic { A_VOTER(MAY_APPEND); d_step { apply(a, end[a], LENGTH) }
       if
       :: MAY_RAISE -> k = CEILING
       :: MAY_REOPEN -> k = REOPEN
       :: MAY_OPEN(0) -> k = OPEN
       :: MAY_OPEN(1) -> k = OPEN + 1
       :: MAY_OPEN(2) -> k = OPEN + 2
       :: MAY_GRANT(0) -> k = A_GRANT
       :: MAY_GRANT(1) -> k = A_GRANT + 1
       :: MAY_GRANT(2) -> k = A_GRANT + 2
       :: else
       fi; skip;
       d_step { if :: k != 0 -> append(a, k) :: else fi; done() } }
  /* A voter gets it, and answers. */
  :: atomic { A_PAIR(MAY_REPLICATE); d_step { replicate(a, b); done() } }
  :: atomic { if
       :: PAIR(MAY_LEAD, 0, 3) :: PAIR(MAY_LEAD, 0, 5) :: PAIR(MAY_LEAD, 0, 7)
       :: PAIR(MAY_LEAD, 1, 3) :: PAIR(MAY_LEAD, 1, 6) :: PAIR(MAY_LEAD, 1, 7)
       :: PAIR(MAY_LEAD, 2, 5) :: PAIR(MAY_LEAD, 2, 6) :: PAIR(MAY_LEAD, 2, 7)
       fi; skip;
       d_step { elect(a, b); done() } }
  :: atomic { A_VOTER(MAY_LOSE); k = synced[a]; do :: k < end[a] -> k++ :: break od; skip;
       d_step { lose_power(a, k); done() } }
  /* It asks the leader what is committed; its own confirmation makes a majority. */
  :: atomic { A_PAIR(MAY_RECOVER);
       d_step { follow(a, b); recover(a, b, commit[b]); done() } }
  /* A leader asks itself, and another one confirms. */
  :: atomic { A_PAIR(MAY_CONFIRM);
       d_step { follow(b, a); recover(a, a, commit[a]); done() } }
#ifdef READ_BEFORE_THE_HELLO
  :: atomic { A_PAIR(MAY_READ); d_step { follow(a, b); answer[a] = commit[b]; done() } }
  :: atomic { A_PAIR(MAY_USE); d_step { follow(a, b); recover(a, b, answer[a]); done() } }
#endif
  od
}
