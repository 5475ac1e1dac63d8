/* P3: a holder's valid() is false before the expiry of its session takes effect, and ever after.
 *
 * One session, three voters, one log. Consensus is taken for granted: one sequence of applied
 * entries. Everything else that a network, a disk or a scheduler may do is allowed: a renewal
 * request once sent is applied at any later time, in any order, more than once, or never; its
 * result reaches the holder at any later time; a report of a run-out countdown counts for ever; a
 * voter applies late and restarts at any time. A paused process is one that takes no step.
 *
 * Time: a tick of true time is U units of a perfect clock, and rho is 1/U. The worst case is built
 * in: the holder's clock is at its slowest (U-1 units a tick), every good voter's at its fastest
 * (U+1), and the clocks of a minority (FAST, a bit mask) are fast without bound: their countdowns
 * are over at once. Other rates give the same events in another schedule, later or earlier.
 *
 * An Expire may be applied at any time once a quorum reported: its rule about terms (S4) protects
 * the grace, see grace.pml, not this promise. It names one renewal, guessed at the start in
 * `doomed`, so that reports for others need not be kept.
 *
 * Each -D switch below breaks one rule or one assumption, and must be refuted.
 */
#ifndef TTL
#define TTL 3                      /* ticks */
#endif
#define U 4
#ifdef SLOW_HOLDER                 /* assumption broken: the holder's clock is slower than 1-rho */
#define HOLDER_RATE (U-2)
#else
#define HOLDER_RATE (U-1)
#endif
#define VOTER_RATE (U+1)
#define TRUST    (TTL*(U-1))       /* what the holder trusts: ttl*(1-rho) */
#define PATIENCE (TTL*(U+1))       /* what a voter waits: ttl*(1+rho) */
#ifdef FAST_MAJORITY               /* assumption broken: a majority of clocks runs away */
#define FAST 3
#else
#define FAST 1
#endif
#define REQUESTS 3                 /* numbers 0..2; opening the session is number 0 */
#define RENEWALS 4                 /* renewals that take effect: 0..3 */

byte renewed;                      /* S4: the session's last renewal that was applied */
bool expired;                      /* the Expire was applied: the locks are granted to others */
byte doomed;
byte reported;                     /* bit i: voter i's countdown for `doomed` ran out */

byte sent = 1;                     /* requests numbered so far */
byte lease_of[REQUESTS];           /* what is left of the lease that this request would give */
byte lease = TRUST;                /* what is left of the holder's own lease */
byte ok;                           /* bit n: an entry naming request n was applied, result Ok */
#define VALID (lease > 0)

byte applied[3];                   /* the last renewal that voter i applied ... */
byte left[3];                      /* ... and what is left of its countdown */
byte i, n;                         /* scratch, zero between steps */

#define IS_FAST(v)     ((FAST >> (v)) & 1)
#define FULL(v)        (IS_FAST(v) -> 0 : PATIENCE)
#define MAJORITY(mask) ((mask)==3 || (mask)==5 || (mask)==6 || (mask)==7)
#define SPEND(x, by)   x = ((x) > (by) -> (x)-(by) : 0)
#define GREATER(a, b)  ((a) > (b) -> (a) : (b))
#define ANY_VOTER      if :: i = 0 :: i = 1 :: i = 2 fi
#define ANY_REQUEST(below) n = 1; do :: n < (below)-1 -> n++ :: break od
#define DONE           i = 0; n = 0
#define EXCLUSIVE      assert(!(expired && VALID))

#ifdef LEADER_ALONE                /* the leader's own clock decides */
#define ENOUGH(mask) ((mask) != 0)
#else
#define ENOUGH(mask) MAJORITY(mask)
#endif
#ifdef EXPIRE_WITHOUT_INDEX        /* apply does not look whether the session was renewed since */
#define STILL_MEANT (doomed <= renewed)
#else
#define STILL_MEANT (doomed == renewed)
#endif

inline tick() {
  SPEND(lease, HOLDER_RATE);
  n = 1; do :: n < REQUESTS -> SPEND(lease_of[n], HOLDER_RATE); n++ :: else -> break od;
  SPEND(left[0], VOTER_RATE); SPEND(left[1], VOTER_RATE); SPEND(left[2], VOTER_RATE);
  DONE
}

/* S3: the lease starts when the request with that number was first sent. */
inline extend() {
#ifdef LEASE_FROM_REPLY            /* measured from the answer, as etcd's client does */
  lease = TRUST; ok = ok & ~(1 << n)
#elif defined(LEASE_FROM_LAST_REQUEST)  /* from the newest request, not from the named one */
  lease = GREATER(lease, lease_of[sent-1]); ok = ok & ~(1 << n)
#else
  lease = GREATER(lease, lease_of[n])
#endif
}

/* S4: counting starts when the renewal is applied. */
inline count_down() {
#ifdef COUNT_FROM_RECEIPT          /* only a request's arrival at this voter starts it */
  skip
#elif defined(SAVED_WITHOUT_INDEX) /* goes on from what was saved for an earlier renewal */
  if :: left[i] = FULL(i) :: skip fi
#else
  left[i] = FULL(i)
#endif
}

init {
  if :: doomed = 0 :: doomed = 1 :: doomed = 2 :: doomed = RENEWALS-1 fi;
  d_step { left[0] = FULL(0); left[1] = FULL(1); left[2] = FULL(2); }
  do
  :: d_step { left[0] + left[1] + left[2] + lease + lease_of[1] + lease_of[REQUESTS-1] > 0 ->
       tick() }

  /* The holder numbers a request, reads its clock and sends. */
  :: atomic { sent < REQUESTS -> lease_of[sent] = TRUST; sent++ }
#ifdef RESEND_TAKES_NEW_TIME
  :: atomic { sent > 1 -> lease_of[sent-1] = TRUST }
#endif
  /* It learns that an entry naming request n was applied with result Ok. */
  :: atomic { ok != 0 -> ANY_REQUEST(REQUESTS+1);
       if :: (ok >> n) & 1 -> extend() :: else fi; DONE; EXCLUSIVE }
#ifdef COMMITTED_IS_OK             /* a renewal behind the expiry extends, its result unread */
  :: atomic { expired && sent > 1 -> lease = GREATER(lease, lease_of[sent-1]); EXCLUSIVE }
#endif

  /* The log: any request ever sent, as long as the session lives. */
  :: atomic { !expired && sent > 1 && renewed < RENEWALS-1 -> ANY_REQUEST(sent);
       renewed++; ok = ok | (1 << n); DONE }
  :: atomic { !expired && ENOUGH(reported) && STILL_MEANT -> expired = 1; EXCLUSIVE }

  /* A voter applies its next renewal. */
  :: atomic { ANY_VOTER;
       if :: applied[i] < renewed -> applied[i]++; count_down() :: else fi; DONE }
#ifdef COUNT_FROM_RECEIPT
  :: atomic { sent > 1 -> ANY_VOTER; left[i] = FULL(i); DONE }
#endif
  /* It restarts from its state or from the start of the log, and counts from nothing or from what
   * it saved for this very renewal: what is left is between `left` and the whole. */
  :: atomic { ANY_VOTER; if :: skip :: applied[i] = 0 fi;
#ifdef RESTART_RAN_OUT             /* "no countdown is running" read as "it ran out" */
       left[i] = 0;
#else
       left[i] = FULL(i);
#endif
       DONE }
  /* It reports. */
  :: atomic { ANY_VOTER;
#ifdef REPORT_WITHOUT_INDEX        /* the leader takes it for the renewal that it knows of */
       if :: left[i] == 0 && renewed == doomed -> reported = reported | (1 << i) :: else fi;
#else
       if :: left[i] == 0 && applied[i] == doomed -> reported = reported | (1 << i) :: else fi;
#endif
       DONE }
  od
}
