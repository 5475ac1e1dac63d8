/* S4, the grace: an outage longer than the ttl does not end a live session.
 *
 * The holder lives and asks for a renewal again and again. From its last applied renewal on nothing
 * is replicated for OUTAGE ticks; by then the countdowns of all voters may have run out. Then the
 * cluster heals, by a new leader, or because everybody was paused and the old leader goes on. The
 * holder's request reaches the leader within HEARD ticks and is proposed within a heartbeat.
 * Violated when the Expire gets into the log before that renewal.
 */
#define TTL 4                      /* ticks of the good voters' clocks */
#define OUTAGE 6
#ifdef NO_GRACE
#define GRACE 0
#else
#define GRACE 3
#endif
#ifdef HEARD_LATE                  /* assumption broken: the request takes longer than the grace */
#define HEARD 4
#else
#define HEARD 2
#endif
#if defined(BATCHED_LATE) || defined(NO_PENDING_RULE)
#define BATCH 3                    /* a request that was heard waits that long for its entry */
#else
#define BATCH 0
#endif
#ifdef NO_PENDING_RULE             /* expires a session from which a renewal is on its way */
#define MAY_EXPIRE (1)
#else
#define MAY_EXPIRE (!heard)
#endif

byte now, left[3], grace, reported, waited, batched, i;
bool healed, same_leader, decided_before, heard, renewed;

#define MAJORITY(mask) ((mask)==3 || (mask)==5 || (mask)==6 || (mask)==7)
#define SPEND(x) x = ((x) > 0 -> (x)-1 : 0)

inline heal() {
  healed = 1;
  if :: same_leader = 1 :: skip fi;
#ifdef GRACE_OF_NEW_LEADERS_ONLY   /* a gap in the old leader's contact, or loop, gives none */
  grace = (same_leader -> 0 : GRACE)
#else
  grace = GRACE
#endif
}

inline holder_is_heard() {
  if
  :: !heard && waited < HEARD -> if :: waited++ :: heard = 1 fi
  :: !heard && waited == HEARD -> heard = 1
  :: else
  fi;
  if :: heard && batched < BATCH -> if :: batched++ :: batched = BATCH fi :: else fi
}

inline leader_expires() {
  i = 0;
  do
  :: i < 3 -> if :: left[i] == 0 -> reported = reported | (1 << i) :: else fi; i++
  :: else -> break
  od; i = 0;
  assert(!(MAJORITY(reported) && grace == 0 && MAY_EXPIRE));
  /* An Expire that was decided before the outage and not appended then. */
#ifdef OLD_DECISION_IN_NEW_TERM    /* appended in another term than it was decided in */
  assert(!decided_before)
#else
  assert(!(decided_before && same_leader && grace == 0 && MAY_EXPIRE))
#endif
}

active proctype world() {
  left[1] = TTL; left[2] = TTL;    /* voter 0 has a clock that runs away */
  do
  :: renewed -> break              /* an Expire that comes after it is void: renewal index */
  :: else -> atomic {
       if
       :: !healed && now < OUTAGE ->
            if :: left[1] == 0 -> decided_before = 1 :: skip fi
       :: !healed && now >= OUTAGE -> heal()
       :: healed
       fi;
       if
       :: healed -> holder_is_heard();
            if                     /* what comes first within a tick is open */
            :: heard && batched == BATCH -> renewed = 1
            :: leader_expires(); if :: heard && batched == BATCH -> renewed = 1 :: else fi
            fi
       :: else
       fi;
       if
       :: !renewed -> now++; SPEND(left[0]); SPEND(left[1]); SPEND(left[2]);
            if :: healed -> SPEND(grace) :: else fi
       :: else
       fi }
  od
}
