// One name: who holds it, the queue, why it is closed, and what has happened since the page opened.
import {openBreak} from "./break.js";
import {h, nothing, table} from "./dom.js";
import {eventTable, eventsOf, noEventsText} from "./events.js";
import {closedText, kindText, valueText} from "./locks.js";
import {address, age, duration, encoded, from, inMode, modeOf, nodeOf, number, party, plural, shown,
  shownName} from "./server.js";
import * as server from "./server.js";

let present = null;  // {key, lock}

export async function load(key) {
  present = {key, lock: await server.lock(key)};
}

// A session is renewed long before its lease ends, so the bar moves between a third and all of it.
const longest = new Map();

function leaseOf(holder) {
  if (holder.lease_left_ms === null) return "unknown";
  const most = Math.max(longest.get(holder.session) ?? 0, holder.lease_left_ms);
  longest.set(holder.session, most);
  return h("span", {class: "lease"},
    h("meter", {min: 0, max: most, low: most / 4, optimum: most, value: holder.lease_left_ms,
      "aria-label": "Time that is left of the lease"}),
    ` ${duration(holder.lease_left_ms)}`);
}

const sinceOf = (info) => [
  h("span", {}, age(info)),
  h("span", {class: "faint"}, ` entry ${number(info.since)}`),
];

const whoOf = (info) => [
  shown(info.label) ? h("strong", {}, shown(info.label)) : h("span", {class: "faint"}, "no label"),
];

const whereOf = (info) => [
  `${nodeOf(info)}, session ${info.session}`,
  from(info) ? h("div", {class: "mono"}, from(info)) : null,
  address(info) ? h("div", {class: "mono faint"}, address(info)) : null,
];

function breakButton(lock, token, who, closed, refresh) {
  const label = closed === undefined ? "Break" : "Open";
  return h("button", {type: "button", class: "small",
    "aria-label": `${label} ${shownName(lock.name)}, token ${token}`,
    onclick: () => openBreak({name: lock.name, token, who, closed}, refresh)}, `${label}…`);
}

function holdersOf(lock, mayBreak, refresh) {
  const columns = [{label: "Mode"}, {label: "Label"}, {label: "Where"},
    {label: "Token", class: "number"}, {label: "Held for"}, {label: "Lease left"},
    ...(mayBreak ? [{label: "Action", class: "narrow"}] : [])];
  const rows = lock.holders.map((holder) => ({
    key: `${holder.token}/${holder.session}/${holder.since}`,
    cells: [
      h("span", {class: "tag mode", "data-mode": holder.slots ? "slots" : holder.mode},
        modeOf(holder)),
      [...whoOf(holder), holder.cached ? " (cached: its node keeps it for its next acquire)" : ""],
      whereOf(holder),
      h("span", {class: "mono"}, holder.token),
      sinceOf(holder),
      leaseOf(holder),
      ...(mayBreak ? [breakButton(lock, holder.token, party(holder), undefined, refresh)] : []),
    ],
  }));
  const total = plural(lock.holders_total, "holder") +
    (lock.holders_total > rows.length ? `, the first ${number(rows.length)}` : "") +
    ", the oldest first";
  return table(total, columns, rows);
}

const remarksOf = (waiter) => [
  waiter.upgrades ? "upgrades its hold" : null,
  waiter.priority !== 0 ? `priority ${waiter.priority}` : null,
].filter(Boolean).join(", ");

function queueOf(lock) {
  const hasRemarks = lock.waiters.some((waiter) => remarksOf(waiter) !== "");
  const columns = [{label: "Place", class: "number narrow"}, {label: "Wants"}, {label: "Label"},
    {label: "Where"}, {label: "Waits for"}, ...(hasRemarks ? [{label: "Remarks"}] : [])];
  const rows = lock.waiters.map((waiter, at) => ({
    key: `${waiter.session}/${waiter.since}/${at}`,
    cells: [
      String(at + 1),
      h("span", {class: "tag mode",
        "data-mode": waiter.permits || lock.kind !== "lock" ? "slots" : waiter.mode},
      modeOf(waiter, lock.kind)),
      whoOf(waiter),
      whereOf(waiter),
      sinceOf(waiter),
      ...(hasRemarks ? [remarksOf(waiter) || nothing] : []),
    ],
  }));
  const policy = lock.kind === "lock" ? `, policy ${inMode(lock.policy)}` : "";
  const total = `${number(lock.waiters_total)} waiting` +
    (lock.waiters_total > rows.length ? `, the first ${number(rows.length)}` : "") +
    `, in the order of the queue${policy}`;
  return table(total, columns, rows);
}

// Parties that have never arrived belong to no node yet.
function membersOf({barrier}) {
  const columns = [{label: "Takes part"}, {label: "Session", class: "number"},
    {label: "Have arrived", class: "number"}, {label: "Of its parties", class: "number"}];
  const rows = barrier.members.map((member) => ({
    key: String(member.session),
    cells: [
      member.node === 0 ? "a client, or a process that has ended" : `node ${member.node}`,
      String(member.session), number(member.arrived), number(member.parties),
    ],
  }));
  return table(`${number(barrier.arrived)} of ${plural(barrier.parties, "party", "parties")} have ` +
    `arrived in phase ${number(barrier.phase)}`, columns, rows);
}

function closuresOf(lock, mayBreak, refresh) {
  const columns = [{label: "Closed because"}, {label: "Token", class: "number"},
    {label: "Opens in at most"}, ...(mayBreak ? [{label: "Action", class: "narrow"}] : [])];
  const rows = lock.closures.map((closure) => ({
    key: `${closure.by}/${closure.token}`,
    cells: [
      closedText[closure.by] ?? closure.by,
      h("span", {class: "mono"}, closure.token),
      closure.left_ms === null ? "unknown" : duration(closure.left_ms),
      ...(mayBreak ? [breakButton(lock, closure.token, "", closure.by, refresh)] : []),
    ],
  }));
  return table("Reasons, the newest token first", columns, rows);
}

const section = (title, content, empty) => [
  h("h2", {}, title), content ?? h("p", {class: "empty"}, empty)];

// Who waits for names of other kinds passes, and holds nothing.
function partiesOf(lock, mayBreak, refresh) {
  if (lock.kind === "barrier")
    return section("Members", lock.barrier.members.length > 0 ? membersOf(lock) : null,
      "Nobody takes part any more.");
  if (lock.kind !== "lock" && lock.kind !== "semaphore") return [];
  return section("Holders",
    lock.holders.length > 0 ? holdersOf(lock, mayBreak, refresh) : null, "Nobody holds it.");
}

function factsOf(lock) {
  const facts = [h("span", {class: "tag"}, kindText(lock))];
  if (lock.closed) facts.push(h("span", {class: "tag bad"}, "closed"));
  if (lock.value)
    facts.push(h("span", {class: "tag"}, valueText(lock)),
      lock.value.dirty ? h("span", {class: "tag warn"}, "value is dirty") : "");
  return h("p", {class: "tags"}, facts);
}

export function lockView(key, mayBreak, refresh) {
  const back = h("p", {class: "back"}, h("a", {href: "#/"}, "All locks"));
  if (present === null || present.key !== key)
    return [back, h("p", {class: "empty"}, "Asking the node…")];
  const {lock} = present;
  const events = eventsOf(encoded(lock.name));
  return [
    back,
    h("h1", {class: "mono"}, shownName(lock.name)),
    factsOf(lock),
    ...(lock.closures.length > 0
      ? section("Closed", closuresOf(lock, mayBreak, refresh)) : []),
    ...partiesOf(lock, mayBreak, refresh),
    ...section("Queue", lock.waiters.length > 0 && queueOf(lock) || null,
      "Nobody waits for it."),
    ...section("History since this page was opened",
      events.length > 0 ? eventTable("The newest first", events, false) : null,
      noEventsText()),
  ];
}
