/* S6, S17-S19: every grant of a live session belongs to a waiting call, a hold or the reaper.
 *
 * One name, a process that asks for it twice (operations 1 and 2, one after the other), a rival
 * (operation 3) that comes and goes. Calls time out, holds are lost locally (the lease ran out, the
 * session lives) or released. The requests of the process are one stream: each is sent again until
 * it was applied, arrives at any later time, in any order, more than once, and is applied when all
 * before it were. An acquire may be declined instead. Answers are late or never seen. With the
 * session everything of it ends.
 */
#define CALLS 3                    /* operations 1 and 2 of the process; 0 is unused */
#define RIVAL 3
#define REQUESTS 6                 /* an acquire, a cancel and a release of each */
mtype = { unused, waiting, held, reaping, done };
mtype = { acquire, cancel, release };

mtype state[CALLS] = unused;
byte holder;                       /* the operation that has the name; 0: nobody */
byte queued;                       /* mask by operation: waits there */
mtype asked[REQUESTS];             /* the stream */
byte about[REQUESTS];              /* and of which operation */
byte sent, applied;                /* how many of it */
#ifdef GAP_IS_APPLIED
byte taken;                        /* mask by request */
#endif
byte releases;                     /* mask: such a request was sent */
byte grants, ends, declined;       /* masks: such an answer was given */
bool session_over;
byte k;                            /* scratch, zero between steps */

#define BIT(mask, op)  (((mask) >> (op)) & 1)
#define SET(mask, op)  mask = mask | (1 << (op))
#define DROP(mask, op) mask = mask & ~(1 << (op))
#define ANY_CALL       if :: k = 1 :: k = 2 fi
#define DONE           k = 0; accounted_for()

inline accounted_for() {
  assert(session_over || holder == 0 || holder == RIVAL
         || state[holder] == waiting || state[holder] == held || state[holder] == reaping);
  assert(session_over || state[1] != held || holder == 1);
  assert(session_over || state[2] != held || holder == 2)
}

/* --- the cluster */

inline grant(op) { holder = op; DROP(queued, op); SET(grants, op) }

inline free_name() {
  holder = 0;
  if
  :: BIT(queued, 1) -> grant(1)
  :: BIT(queued, 2) -> grant(2)
  :: BIT(queued, RIVAL) -> grant(RIVAL)
  :: else
  fi
}

inline take_acquire(op) {
  if
  :: holder == op || BIT(queued, op) -> skip
  :: else -> if :: holder == 0 -> grant(op) :: else -> SET(queued, op) fi
  fi
}

/* The leader had no room for it, and put something in its place that does nothing. */
inline decline(op) {
#ifdef DECLINED_STILL_WAITS
  if :: holder == 0 -> skip :: else -> SET(queued, op) fi;
#endif
  SET(declined, op)
}

inline take_cancel(op) {
  DROP(queued, op); SET(ends, op);
#ifdef CANCEL_KEEPS_THE_GRANT      /* "too late to cancel" */
  skip
#else
  if :: holder == op -> free_name() :: else fi
#endif
}

inline take_release(op) {
  SET(ends, op);
  if
#ifdef RELEASE_BY_NAME             /* does not name the grant it is about */
  :: holder == 1 || holder == 2 -> free_name()
#else
  :: holder == op -> free_name()
#endif
  :: else
  fi
}

inline take(n) {
  if
  :: asked[n] == acquire -> if :: true -> take_acquire(about[n]) :: true -> decline(about[n]) fi
  :: asked[n] == cancel -> take_cancel(about[n])
  :: asked[n] == release -> take_release(about[n])
  fi
}

/* Request n of the stream arrives, for the first time or again. */
inline arrive(n) {
#ifdef GAP_IS_APPLIED              /* each once, whatever is missing before it */
  if :: !BIT(taken, n) -> SET(taken, n); take(n) :: else fi
#else
  if
  :: n == applied -> applied++; take(n)
#ifdef REPEAT_TAKES_EFFECT         /* not exactly once: a delayed copy asks again */
  :: n < applied -> take(n)
#endif
  :: else
  fi
#endif
}

/* --- the process */

inline send(what, op) { asked[sent] = what; about[sent] = op; sent++ }

inline give_back(op) {
  if :: !BIT(releases, op) -> SET(releases, op); send(release, op) :: else fi
}

inline reap_cancel(op) {
#ifdef TIMEOUT_WITHOUT_REAPER
  state[op] = done
#elif defined(REAPER_SENDS_ONCE)
  state[op] = done; send(cancel, op)
#else
  state[op] = reaping; send(cancel, op)
#endif
}

inline reap_release(op) {
#ifdef LOSS_WITHOUT_REAPER         /* local expiry is final, so nothing is left to do */
  state[op] = done
#else
  state[op] = reaping; give_back(op)
#endif
}

active proctype world() {
  do
  :: atomic { !session_over -> ANY_CALL;            /* calls */
       if
       :: state[k] == unused && (k == 1 || state[1] == reaping || state[1] == done) ->
            state[k] = waiting; send(acquire, k)
       :: else
       fi; DONE }
  :: atomic { ANY_CALL;                             /* gives up at its deadline */
       if :: state[k] == waiting -> reap_cancel(k) :: else fi; DONE }
  :: atomic { ANY_CALL;                             /* releases, or the lease ran out */
       if :: state[k] == held -> reap_release(k) :: else fi; DONE }
  :: atomic { ANY_CALL;                             /* learns of its grant */
       if
       :: BIT(grants, k) && state[k] == waiting -> state[k] = held
       :: BIT(grants, k) && state[k] == reaping -> give_back(k)
       :: else
       fi; DONE }
  :: atomic { ANY_CALL;                             /* learns that an operation ended */
       if
       :: BIT(ends, k) && state[k] == reaping -> state[k] = done
       :: BIT(declined, k) && (state[k] == waiting || state[k] == reaping) -> state[k] = done
       :: else
       fi; DONE }

  :: atomic { !session_over && sent > 0 ->
       k = 0;
       do :: k + 1 < sent -> k++ :: break od;
       arrive(k); DONE }
  :: atomic { holder != RIVAL && !BIT(queued, RIVAL) ->
       if :: holder == 0 -> grant(RIVAL) :: else -> SET(queued, RIVAL) fi; DONE }
  :: atomic { holder == RIVAL -> free_name(); DONE }
  :: atomic { !session_over -> session_over = 1; queued = queued & (1 << RIVAL);
       if :: holder == 1 || holder == 2 -> free_name() :: else fi; DONE }
  od
}
