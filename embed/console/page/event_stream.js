// The page's one stream of events: where it continues, when it ends, and why there is none.

const afterBreak = 2000;    // until the next attempt
const afterRefusal = 5000;

let source = null;
let position = "";  // of the last event
let timer = null;
let refusal = "";  // in the node's words
let isRefusedForGood = false;
let listener = null;

const address = () =>
  position === "" ? "/api/v1/events" : `/api/v1/events?from=${encodeURIComponent(position)}`;

// `its` has event(kind, message), continued() and changed().
export function connect(its) {
  listener = its;
  document.addEventListener("visibilitychange", follow);
  follow();
}

export const isLive = () => source?.readyState === EventSource.OPEN;

// Why there is no stream; empty while it is only not known yet.
export const whyNot = () => refusal;
export const isOver = () => isRefusedForGood;

// A browser has six connections to a console for all of its pages, and a stream takes one of them.
// So a page that nobody sees has none, and continues when it is seen again.
function follow() {
  if (document.hidden) close();
  else if (source === null && !isRefusedForGood) open();
}

function close() {
  clearTimeout(timer);
  source?.close();
  source = null;
}

function open() {
  clearTimeout(timer);
  const continues = position !== "";
  source = new EventSource(address());
  for (const kind of ["lock", "node", "begin"])
    source.addEventListener(kind, (message) => receive(kind, message));
  source.onopen = () => {
    refusal = "";
    if (continues) listener.continued();
    listener.changed();
  };
  source.onerror = onBreak;
}

function receive(kind, message) {
  if (message.lastEventId !== "") position = message.lastEventId;
  listener.event(kind, message);
}

// The browser's own attempts would end with the first refusal, and say nothing of what was missed.
function onBreak() {
  const wasRefused = source.readyState === EventSource.CLOSED;
  close();
  timer = setTimeout(follow, wasRefused ? afterRefusal : afterBreak);
  if (wasRefused) askWhy();
  listener.changed();
}

// An EventSource does not tell the answer that refused it.
async function askWhy() {
  const stop = new AbortController();
  const response = await fetch(address(), {signal: stop.signal}).catch(() => null);
  if (response !== null && !response.ok) {
    refusal = (await response.json().catch(() => ({}))).reason ?? `status ${response.status}`;
    isRefusedForGood = response.status === 400;  // it would be refused again
    if (isRefusedForGood) close();
    listener.changed();
  }
  stop.abort();
}
