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
// `more` has those of `contains`, `contended` and `sort` that are wanted.
export const locks = (prefix, after, limit, more) =>
  ask(`/api/v1/locks?prefix=${encodeURIComponent(prefix)}&after=${after}&limit=${limit}` +
    Object.entries(more).map(([key, value]) => `&${key}=${encodeURIComponent(value)}`).join(""));
export const lock = (key) => ask(`/api/v1/lock?name=${key}`);
export const activity = () => ask("/api/v1/activity");
export const sessions = () => ask("/api/v1/sessions");
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

// Since when; what the cluster does not know is not told.
export const age = (info) => (info.age_ms === undefined ? "unknown" : duration(info.age_ms));

// "backup@db3:4711", or the parts of it that are known.
export function from(info) {
  const {host, program = "", pid} = info.origin ?? {};
  return shown(program) + (host === undefined ? "" : `@${shown(host)}`) +
    (pid === undefined ? "" : `:${pid}`);
}

export const address = (info) => shown(info.origin?.address ?? "");

// Its label, or from where it comes if it has none.
export const labelOf = (info) => shown(info.label) || from(info);

// "nightly · node 2"
export const party = (info) => [labelOf(info), nodeOf(info)].filter(Boolean).join(" · ");

// What stands where a lock has its mode.
export function modeOf(info, kind = "lock") {
  if (kind === "barrier") return "arrived";
  if (kind !== "lock" && kind !== "semaphore") return "waits";
  if (info.slots) return `${info.slots_total === 1 ? "slot" : "slots"} ${info.slots.join(", ")}` +
    (info.slots_total > info.slots.length ? ", …" : "");
  if (info.permits) return plural(info.permits, "permit");
  return inMode(info.mode);
}
