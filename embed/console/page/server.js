// What the page asks the node, and how names and times are shown.

const answerTime = 5000;

export class Refused extends Error {
  constructor(status, body) {
    super(body.reason ?? `status ${status}`);
    this.code = body.error ?? "failed";
  }
}

async function ask(path, options = {}) {
  const response = await fetch(path, {...options, signal: AbortSignal.timeout(answerTime)});
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, body);
  return body;
}

// Names are bytes. In an address each is written as %xx, so every name has exactly one form there.
export const encoded = (name) =>
  typeof name === "string" ? encodeURIComponent(name) : name.hex.replace(/../g, "%$&");

export const status = () => ask("/api/v1/status");
export const locks = (prefix, after, limit) =>
  ask(`/api/v1/locks?prefix=${encodeURIComponent(prefix)}&after=${after}&limit=${limit}`);
export const lock = (key) => ask(`/api/v1/lock?name=${key}`);
export const activity = () => ask("/api/v1/activity");
export const waits = (prefix) => ask(`/api/v1/waits?prefix=${encodeURIComponent(prefix)}`);

export const breakLock = (asked) =>
  fetch("/api/v1/break", {
    method: "POST",
    headers: {"Content-Type": "application/json", "Mortise-Console": "break"},
    body: JSON.stringify(asked),
    signal: AbortSignal.timeout(20000),
  }).then(async (response) => {
    const body = await response.json().catch(() => ({}));
    if (!response.ok) throw new Refused(response.status, body);
  });

// --- words

// Characters that hide, or that turn the direction of what follows, could make one name look like
// another. They are those of embed/values/escaped.cpp.
const hidden = new RegExp("[\\u{0}-\\u{1f}\\u{7f}-\\u{9f}\\u{ad}\\u{61c}\\u{200b}-\\u{200f}" +
  "\\u{2028}-\\u{202e}\\u{2060}-\\u{206f}\\u{d800}-\\u{dfff}\\u{feff}\\u{e0000}-\\u{e0fff}]", "gu");

export function shown(text) {
  if (typeof text !== "string") return text.shown;
  return text.replace(hidden, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

// Names that differ never look alike, so a backslash is shown twice.
export const shownName = (name) =>
  typeof name === "string" ? shown(name.replaceAll("\\", "\\\\")) : name.shown;

export const inMode = (mode) => mode.replaceAll("_", " ");

export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms / 100) / 10)} s`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export const number = (value) => value.toLocaleString("en");

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export const clock = (date) => date.toLocaleTimeString("en-GB");

export const nodeOf = (info) => info.node === 0 ? "client" : `node ${info.node}`;

// "nightly · node 2"
export const party = (info) => {
  const label = shown(info.label);
  return label ? `${label} · ${nodeOf(info)}` : nodeOf(info);
};

// What stands where a lock has its mode.
export function modeOf(info, kind = "lock") {
  if (kind === "barrier") return "arrived";
  if (kind === "latch") return "waits";
  if (info.slots) return `${info.slots_total === 1 ? "slot" : "slots"} ${info.slots.join(", ")}` +
    (info.slots_total > info.slots.length ? ", …" : "");
  if (info.permits) return plural(info.permits, "permit");
  return inMode(info.mode);
}

// --- since when

// The cluster has no clock: a hold has begun at an entry of its log. The page knows since when it
// has seen it, and whether it saw it begin.
const firstSeen = new Map();
const rememberedMax = 20000;

// What a session was granted with one entry has begun at one moment. The token says less: readers
// share it, and an upgrade replaces it.
const beginOf = (name, info) => `${name} ${info.session}/${info.since}`;

function remember(begin, isExact) {
  if (firstSeen.size >= rememberedMax) firstSeen.delete(firstSeen.keys().next().value);
  firstSeen.set(begin, {at: Date.now(), isExact});
}

export function noteBegin(name, info) {
  remember(beginOf(name, info), true);
}

export function seenFor(name, info) {
  const begin = beginOf(name, info);
  if (!firstSeen.has(begin)) remember(begin, false);
  const {at, isExact} = firstSeen.get(begin);
  return (isExact ? "" : "> ") + duration(Date.now() - at);
}
