/* S39-S45, the cached grant: exclusion, tokens and what the cluster knows of its users.
 *
 * One name and two nodes; each asks the cluster twice for a cached grant, shared or exclusive
 * (operations 1 and 2 of node 0, 3 and 4 of node 1). A grant stays with its node when its user
 * releases it; later callers of the node use it, each with the next token of its block, or get it
 * handed over in the local queue of the node. A request that waits for the name recalls it.
 *
 * The requests of a node are one stream (Acquire, Publish, Release). A message is late, lost,
 * repeated or overtakes others: the leader takes what comes next in the stream, whenever a copy
 * arrives. What it has taken and not committed may be gone after an election; the node sends it
 * again, and the new leader may append what its log has already. Answers and recalls reach a node
 * at any later time, or never: its threads take their steps in any order.
 *
 * The lease of a node may end while its session lives; then it is renewed, or the cluster ends the
 * session at any time from there on. That this is never before the end of the lease is taken for
 * granted: lease.pml shows it. An Expire names its renewal, so a renewal in between makes it void.
 *
 * Asserted: users of modes that exclude each other never work at once, and a grant has one user;
 * nobody uses a grant whose release was sent; a token is above those of all users before it that it
 * excludes; a grant that is released cleanly leaves the token of its last user behind, which was
 * published (S23); when all is delivered, nobody waits for a grant that nobody uses.
 *
 * Not in it: cancellations and tries, conversions, breaks, a new session after the old one (see
 * reaper.pml for cancellations). Each -D switch below, but for the sizes, breaks one rule and must
 * be refuted.
 */
#ifndef LAST
#define LAST 3                     /* of the four operations; a fourth is asked for in LAST=4 */
#endif
#ifndef BLOCK
#define BLOCK 2                    /* tokens of an exclusive grant */
#endif
#ifndef ELECTIONS
#define ELECTIONS 1
#endif
#ifndef LAPSES
#define LAPSES 1                   /* how often the lease of node 0 ends */
#endif
#ifndef LAPSES_TOO
#define LAPSES_TOO 0               /* ... and that of node 1 */
#endif
#define OPS 5                      /* operation 0 is unused */
#define REQUESTS 8                 /* of one node */
#define NODE_OF(op)  ((op) > 2)
#define FIRST_OF(n)  (1 + 2*(n))
#define OF_NODE(n)   ((n) -> 24 : 6)        /* mask of its operations */
#define MODE_X(op)   (!BIT(shared, op))

#define UNUSED 0                   /* what the node knows of an operation */
#define ASKED  1
#define IN_USE 2                   /* in the cache */
#define IDLE   3
#define GONE   4

#define LOST    0                  /* a release of a grant that was lost: nobody is published */
#define ACQUIRE 1
#define PUBLISH 2
#define RELEASE 3

#define BIT(mask, op)  (((mask) >> (op)) & 1)
#define SET(mask, op)  mask = mask | (1 << (op))
#define DROP(mask, op) mask = mask & ~(1 << (op))

/* The nodes. */
byte state[OPS];
byte token[OPS];                   /* of the present use, or of the last one */
byte shared;                       /* masks by operation: asked for in this mode */
byte recalled, published;
byte handed;                       /* handed over since the recall */
byte pending;                      /* a caller has a token, and has not checked the lease yet */
byte works;                        /* its user was told `ok`, and nothing since */
byte writes;                       /* that user writes */
byte shown[OPS];                   /* the token that was published last */
byte dead;                         /* the lease that it rests on is over */
bool queued[2];                      /* a caller waits in the local queue of the node */
bool leased[2] = true;
bool closed[2];                    /* the node knows that its session ended */
byte lapses[2];
byte sent[2];                      /* the streams */
byte what[2*REQUESTS];

/* The leader: at most two entries that are not applied. */
byte log0, log1;                   /* 1 + node + 2*request; 0: none */
byte next[2];
byte elections = ELECTIONS;

/* The replicated state. */
byte applied[2];
byte held, waits, wanted;          /* masks; somebody has waited for it */
byte ordinary;                     /* it was published */
byte first[OPS];                   /* the token of the grant */
byte known[OPS];                   /* the token of the user that the cluster knows of */
byte newest;                       /* token */
bool joinable;                     /* it was taken by a reader */
bool alive[2] = true;
bool ran_out[2];                   /* enough countdowns, for the newest renewal */
bool renewed[2];                   /* a renewal that the node has not learned of */

/* What the properties need. */
byte last[OPS];                    /* the newest token that a user of the grant was given */
byte answered;                     /* mask: its release was sent, or put into the stream */
byte top, top_writer;              /* the newest token that any user, and any writer, was given */

#ifdef ONLY_EXCLUSION              /* no other property, so that it has to be this one that fails */
#define ALSO(property) skip
#else
#define ALSO(property) assert(property)
#endif

byte fresh;                        /* mask: it has just begun to wait or to hold */
byte o, n, k, j, i;                /* scratch, zero between steps */
#define DONE o = 0; n = 0; k = 0; j = 0; i = 0
/* The steps of one operation, or of one node, that have a guard of that name. */
#define AN_OP(guard) \
  if :: guard(1) -> o = 1 :: guard(2) -> o = 2 :: guard(3) -> o = 3 :: guard(4) -> o = 4 fi; \
  n = NODE_OF(o)
#define A_NODE(guard) if :: guard(0) -> n = 0 :: guard(1) -> n = 1 fi

#ifdef BEYOND_THE_BLOCK            /* a token block is used beyond its end */
#define HAS_TOKEN(op) (token[op] < 14)
#else
#define HAS_TOKEN(op) (BIT(shared, op) || token[op] + 1 < first[op] + BLOCK)
#endif

/* --- the cluster */

#define CONFLICT(a, b) (MODE_X(a) || MODE_X(b))
#define STANDS(a, b)   ((a) != (b) && BIT(held, b) && CONFLICT(a, b))
#ifdef FIRST_ANSWER_IS_ENOUGH      /* S44: one of several readers gave it back */
#define ADMITS(a) (!STANDS(a,1) || !STANDS(a,2) || !STANDS(a,3) || !STANDS(a,4))
#else
#define ADMITS(a) (!STANDS(a,1) && !STANDS(a,2) && !STANDS(a,3) && !STANDS(a,4))
#endif

inline grant(op) {
  DROP(waits, op);
  if
#ifdef READER_TAKES_NO_TOKEN       /* it joins whoever had the name last */
  :: BIT(shared, op) && newest != 0 -> skip
#else
  :: BIT(shared, op) && joinable && held != 0 -> skip      /* joins: the token of the others */
#endif
  :: else -> newest++; joinable = BIT(shared, op)
  fi;
  first[op] = newest; known[op] = newest;
#ifndef BLOCK_NOT_RESERVED         /* the next grant may have a token of the block */
  if :: MODE_X(op) -> newest = newest + BLOCK - 1 :: else fi;
#endif
  SET(held, op); SET(fresh, op)
}

/* Who enters first does not matter here. A request that begins to wait recalls what stands in its
 * way; a new holder is told of those that wait already. */
inline settle() {
  do
  :: BIT(waits, 1) && ADMITS(1) -> grant(1)
  :: BIT(waits, 2) && ADMITS(2) -> grant(2)
  :: BIT(waits, 3) && ADMITS(3) -> grant(3)
  :: BIT(waits, 4) && ADMITS(4) -> grant(4)
  :: else -> break
  od;
  skip;
  d_step {
  j = 1;
  do
  :: j < OPS ->
       k = 1;
       do
       :: k < OPS ->
            if
            :: BIT(waits, j) && STANDS(j, k) && (BIT(fresh, j) || BIT(fresh, k)) ->
                 SET(wanted, k);
#ifdef ONE_READER_RECALLED         /* S44: of several in its way */
                 k = OPS
#else
                 k++
#endif
            :: else -> k++
            fi
       :: else -> break
       od; j++
  :: else -> break
  od;
  fresh = 0; k = 0; j = 0 }
}

inline end_grants(mask) {
  held = held & ~(mask); wanted = wanted & ~(mask); ordinary = ordinary & ~(mask)
}

inline take(at) {
  o = what[at] >> 2;
  if
  :: what[at] == ACQUIRE + 4*o -> SET(waits, o); SET(fresh, o); settle()
  :: what[at] == PUBLISH + 4*o ->
       if
       :: BIT(held, o) && !BIT(ordinary, o) && shown[o] >= first[o] ->
            known[o] = shown[o]; SET(ordinary, o)
       :: else
       fi
  :: what[at] == RELEASE + 4*o || what[at] == LOST + 4*o ->
       if
       :: BIT(held, o) ->
            /* S23: the next holder learns who was the last. */
            ALSO(what[at] == LOST + 4*o || known[o] >= last[o]);
            first[o] = 0; known[o] = 0; last[o] = 0; shown[o] = 0; end_grants(1 << o); settle()
       :: else
       fi
  fi;
  what[at] = 0
}

/* --- a node */

/* Nothing comes of what is sent for a session that has ended. */
inline send(kind, op) {
  if :: (kind) == RELEASE || (kind) == LOST -> SET(answered, op) :: else fi;
  if
  :: alive[NODE_OF(op)] && sent[NODE_OF(op)] < REQUESTS ->
       what[NODE_OF(op)*REQUESTS + sent[NODE_OF(op)]] = kind + 4*(op);
       sent[NODE_OF(op)]++
  :: else
  fi
}

inline publish(op) { shown[op] = token[op]; send(PUBLISH, op) }

/* It left the cache. */
inline forget(op) {
  state[op] = GONE; DROP(recalled, op); DROP(published, op); DROP(handed, op);
#ifndef GIVE_BACK_TAKEN_BACK
  if :: !BIT(pending, op) && !BIT(works, op) -> token[op] = 0; DROP(writes, op) :: else fi
#endif
}

inline give_back(op) {
#ifdef RELEASE_BEFORE_PUBLISH      /* the release goes in a lane of its own */
  send(RELEASE, op);
  if :: token[op] != first[op] -> publish(op) :: else fi;
#else
  if :: token[op] != first[op] -> publish(op) :: else fi;
  send(RELEASE, op);
#endif
#ifdef USED_AFTER_THE_ANSWER       /* the recall is answered, and the grant stays in the cache */
  state[op] = IDLE
#else
  forget(op)
#endif
}

#ifdef PUBLISHED_IS_HANDED_OVER    /* the cluster was told who uses it */
#define IS_KNOWN(op) false
#else
#define IS_KNOWN(op) BIT(published, op)
#endif
#define MAY_HAND_OVER(op) (queued[NODE_OF(op)] && MODE_X(op) && HAS_TOKEN(op) && !IS_KNOWN(op) \
                           && (!BIT(recalled, op) || !BIT(handed, op)))

/* The next caller in the local queue has it, or it goes back, or it stays here unused. */
inline stop_using(op) {
  if
  :: MAY_HAND_OVER(op) ->
       queued[NODE_OF(op)] = 0; token[op]++; SET(pending, op);
       if :: BIT(recalled, op) -> SET(handed, op) :: else fi
#ifdef RECALLED_STAYS
  :: else -> if :: !HAS_TOKEN(op) -> give_back(op) :: else -> state[op] = IDLE fi
#else
  :: else ->
       if
       :: BIT(recalled, op) || !HAS_TOKEN(op) -> give_back(op)
       :: else -> state[op] = IDLE
       fi
#endif
  fi
}

#define CLASH(a, b) (BIT(works, a) && BIT(works, b) && (BIT(writes, a) || BIT(writes, b)))
/* A caller is told `ok`. */
inline use(op) {
  assert(!BIT(works, op));         /* it has one user */
  SET(works, op);
  assert(!CLASH(1,2) && !CLASH(1,3) && !CLASH(1,4) && !CLASH(2,3) && !CLASH(2,4) && !CLASH(3,4));
  ALSO(!BIT(answered, op));
  ALSO(token[op] > (BIT(writes, op) -> top : top_writer));
  if :: token[op] > top -> top = token[op] :: else fi;
  if :: BIT(writes, op) -> top_writer = token[op] :: else fi;
  last[op] = token[op]
}

/* The core finds that the lease of a grant is over: it gives the grant up. */
inline lose(op) {
  DROP(works, op); forget(op); send(LOST, op)
}

#ifdef LEASE_OF_THE_NODE           /* not the lease that the grant rests on */
#define MAY_USE(op) leased[NODE_OF(op)]
#elif defined(LEASE_NOT_CHECKED) || defined(LEASE_CHECKED_BEFORE)
#define MAY_USE(op) true
#else
#define MAY_USE(op) (!BIT(dead, op))
#endif
#define LIVES(op)  (state[op] == IN_USE || state[op] == IDLE)
#define IS_OPEN(op) (!closed[NODE_OF(op)] && op <= LAST)

#ifdef GRANTED_WITHOUT_A_LEASE     /* the grant of the cluster arrives when the lease has ended */
#define GRANTED_ANYWAY true
#else
#define GRANTED_ANYWAY false
#endif

/* Guards. */
#define MAY_ASK(op)    (state[op] == UNUSED && IS_OPEN(op) \
                        && (op == FIRST_OF(NODE_OF(op)) || state[op-1] > ASKED))
#ifdef LEASE_CHECKED_BEFORE        /* before the token is taken, with a pause in between */
byte looked;
#define MAY_LOOK(op)   (state[op] == IDLE && !BIT(dead, op) && !BIT(looked, op))
#define MAY_TAKE(op)   (state[op] == IDLE && BIT(looked, op))
#elif defined(USED_BY_TWO)         /* whether the grant has a user already or not */
#define MAY_TAKE(op)   (LIVES(op) && HAS_TOKEN(op) && !BIT(pending, op))
#else
#define MAY_TAKE(op)   (state[op] == IDLE)
#endif
#define IS_PENDING(op) BIT(pending, op)
#define HAS_WRITER(op) (state[op] == IN_USE && MODE_X(op))
#define MAY_QUEUE(n)    (!queued[n] && (HAS_WRITER(FIRST_OF(n)) || HAS_WRITER(FIRST_OF(n)+1)))
/* Also one that was told of the loss, before the grant has left the cache. */
#define MAY_END(op)    (BIT(works, op) \
                        || (state[op] == IN_USE && BIT(dead, op) && !BIT(pending, op)))
#define MAY_LEARN(op)  (state[op] == ASKED && BIT(held, op) && IS_OPEN(op))
#define MAY_RECALL(op) (LIVES(op) && BIT(wanted, op) && !BIT(recalled, op))
#define STAYS(op)      (state[op] == IN_USE && BIT(works, op) && BIT(recalled, op) \
                        && !BIT(published, op))
#define IS_UNUSED(op)  (state[op] == IDLE)
#define MAY_LAPSE(n)   (leased[n] && lapses[n] > 0)
#define IS_LOST(op)    (LIVES(op) && BIT(dead, op) && IS_OPEN(op))
#define MAY_RUN_OUT(n) (!leased[n] && alive[n] && !ran_out[n])
#define MAY_EXPIRE(n)  (alive[n] && ran_out[n])
#define MAY_RENEW(n)   (!leased[n] && alive[n] && !closed[n] && (ran_out[n] || !renewed[n]))
#define IS_RENEWED(n)  (renewed[n] && alive[n])
#define HAS_ENDED(n)   (!alive[n] && !closed[n])
#define HAS_NO_ANSWER(op) (state[op] == GONE && !BIT(dead, op) && IS_OPEN(op) && BIT(held, op))
#define MAY_APPEND(n)  (alive[n] && next[n] < sent[n] && log1 == 0)

/* Nothing is on its way, nobody uses the name, and each node knows all. */
#define RESTS(op) (!BIT(held, op) || ((state[op] == IDLE || state[op] == GONE) && !BIT(dead, op) \
                   && (!BIT(wanted, op) || BIT(recalled, op))))
#define SETTLED   (sent[0] == applied[0] && sent[1] == applied[1] && alive[0] && alive[1] \
                   && RESTS(1) && RESTS(2) && RESTS(3) && RESTS(4))

init {
  lapses[0] = LAPSES; lapses[1] = LAPSES_TOO;
  do
  /* --- callers */
  :: atomic { AN_OP(MAY_ASK);      /* asks the cluster; the grants of its node may be in its way */
       if :: SET(shared, o) :: skip fi;
       state[o] = ASKED; send(ACQUIRE, o); DONE }
#ifdef LEASE_CHECKED_BEFORE
  :: atomic { AN_OP(MAY_LOOK); SET(looked, o); DONE }
#endif
  :: atomic { AN_OP(MAY_TAKE);     /* takes a grant of the cache, and its next token */
       state[o] = IN_USE; SET(pending, o);
       if :: MODE_X(o) -> token[o]++ :: else fi;
#ifdef SHARED_GRANT_FOR_A_WRITER /* S44: a shared grant is used in any mode */
       if :: BIT(shared, o) -> SET(writes, o); token[o]++ :: skip fi;
#endif
       DONE }
  :: atomic { AN_OP(IS_PENDING);   /* S42: it checks the lease */
       DROP(pending, o);
       if
       :: MAY_USE(o) -> use(o)
       :: !MAY_USE(o) && state[o] == IN_USE -> stop_using(o)
       :: else -> forget(o)
       fi; DONE }
  :: atomic { A_NODE(MAY_QUEUE); queued[n] = 1; DONE }
  :: atomic { AN_OP(MAY_END);      /* releases */
       DROP(works, o);
       if :: state[o] == IN_USE -> stop_using(o) :: else -> forget(o) fi; DONE }

  /* --- the core of a node */
  :: atomic { AN_OP(MAY_LEARN);    /* of its grant */
       token[o] = first[o];
       if
       :: leased[n] || GRANTED_ANYWAY ->
            state[o] = IN_USE;
            if :: MODE_X(o) -> SET(writes, o) :: else fi;
            use(o)
       :: else -> SET(dead, o); lose(o)
       fi; DONE }
  :: atomic { AN_OP(MAY_RECALL);   /* S40: somebody waits */
       SET(recalled, o);
#ifndef UNUSED_IGNORES_RECALL
       if :: state[o] == IDLE -> give_back(o) :: else fi;
#endif
       DONE }
  :: atomic { AN_OP(STAYS); SET(published, o); publish(o); DONE }   /* S45 */
  :: atomic { AN_OP(IS_UNUSED); give_back(o); DONE }                   /* S43: for long */

  /* --- the lease: its thread, the core, the voters */
  :: atomic { A_NODE(MAY_LAPSE);
       leased[n] = 0; lapses[n]--; o = FIRST_OF(n);
       if :: LIVES(o) -> SET(dead, o) :: else fi;
       if :: LIVES(o+1) -> SET(dead, o+1) :: else fi;
       works = works & ~OF_NODE(n); DONE }
  :: atomic { AN_OP(IS_LOST); lose(o); DONE }
  :: atomic { A_NODE(MAY_RUN_OUT); ran_out[n] = 1; DONE }
  :: atomic { A_NODE(MAY_EXPIRE);
       alive[n] = 0; ran_out[n] = 0; renewed[n] = 0; end_grants(OF_NODE(n));
       waits = waits & ~OF_NODE(n); settle(); DONE }
  :: atomic { A_NODE(MAY_RENEW); ran_out[n] = 0; renewed[n] = 1; DONE }
  :: atomic { A_NODE(IS_RENEWED);  /* a new lease, unless it comes too late */
       renewed[n] = 0; o = FIRST_OF(n);
       if
       :: ran_out[n] -> skip
       :: else -> leased[n] = 1;
            if :: IS_LOST(o) -> lose(o) :: else fi;
            if :: IS_LOST(o+1) -> lose(o+1) :: else fi
       fi; DONE }
  :: atomic { A_NODE(HAS_ENDED);
       closed[n] = 1; works = works & ~OF_NODE(n); dead = dead | OF_NODE(n);
       o = FIRST_OF(n); forget(o); o++; forget(o); DONE }
#ifdef GIVE_BACK_TAKEN_BACK        /* S42: no answer came, so the grant is used again */
  :: atomic { AN_OP(HAS_NO_ANSWER); state[o] = IDLE; DONE }
#endif

  /* --- the leader */
  :: atomic { A_NODE(MAY_APPEND);  /* a request that comes next arrives */
       if
       :: log0 == 0 -> log0 = 1 + n + 2*next[n]
       :: else -> log1 = 1 + n + 2*next[n]
       fi;
       next[n]++; DONE }
  :: atomic { log0 != 0 ->         /* an entry is committed and applied */
       n = (log0 - 1) & 1; k = (log0 - 1) >> 1; log0 = log1; log1 = 0;
       if
       :: alive[n] && k == applied[n] -> applied[n]++; i = k + n*REQUESTS; k = 0; take(i)
       :: else                     /* a repetition, or of a session that ended */
       fi; DONE }
  :: atomic { elections > 0 -> elections--;
       if :: log0 = 0; log1 = 0 :: log1 = 0 :: skip fi;
       next[0] = applied[0]; next[1] = applied[1];
#ifdef RECALL_SENT_ONCE            /* S40: a message of the leader, which nobody repeats */
       wanted = 0;
#endif
#ifdef PUBLISH_LOST                /* S45: not a part of the stream: it is not sent again */
       shown[1] = 0; shown[2] = 0; shown[3] = 0; shown[4] = 0;
#endif
       DONE }
  :: atomic { SETTLED && waits != 0 -> assert(false) }
  od
}
