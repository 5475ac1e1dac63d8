// Live events: the changes of locks, and what the node tells of itself.
import {h, nothing, table} from "./dom.js";
import * as stream from "./event_stream.js";
import {searchField} from "./locks.js";
import {clock, encoded, inMode, labelOf, number, party, shown, shownName} from "./server.js";

const kept = 1000;
const drawn = 200;
const events = [];  // the newest first
let filter = "";
let paused = null;  // the events at that moment
let counter = 0;

const words = {
  gap: "events are missing here",
  begin: "live from here on",
  continued: "the stream continues; events of the node itself are missing before this",
  granted: "granted",
  converted: "changed its mode",
  published: "is in use",
  released: "released",
  value_set: "value written",
  value_removed: "value removed",
  value_dirty: "value became dirty",
  value_consistent: "value declared consistent",
};

const endings = {clean: "released", expired: "expired", broken: "broken"};

function textOf(event) {
  if (event.kind === "released") return endings[event.how] ?? "ended";
  return words[event.kind] ?? inMode(event.kind);
}

function gravity(event) {
  if (event.kind === "gap" || event.how === "expired" || event.how === "broken") return "bad";
  if (["value_dirty", "slow_hold", "long_wait", "timing_differs"].includes(event.kind))
    return "warn";
  const bad = ["not_ready", "lost_leadership", "peer_down", "session_expired", "hold_lost",
    "stopped", "removed", "lock_broken", "certificate_expires", "suspended"];
  return event.isNode && bad.includes(event.kind) ? "bad" : null;
}

// The node of a session that has ended is not known any more.
const whoOf = (holder) =>
  [holder.node === 0 ? labelOf(holder) : party(holder)].filter(Boolean);

function detailsOf(event) {
  const details = [];
  if (event.holder) details.push(inMode(event.holder.mode), ...whoOf(event.holder));
  if (event.peer) details.push(`node ${event.peer}`);
  if (event.session && event.isNode) details.push(`session ${event.session}`);
  if (event.reason) details.push(inMode(event.reason));
  if (event.took_ms !== undefined) details.push(`${number(event.took_ms)} ms`);
  if (event.asked_by) details.push(shown(event.asked_by));
  if (event.value) details.push(`version ${event.value.version}`);
  if (event.text) details.push(shown(event.text));
  return details.join(", ");
}

function tokenOf(event) {
  const token = event.holder?.token ?? event.token;
  return token === undefined ? nothing : h("span", {class: "mono"}, token);
}

function add(event) {
  event.at = new Date();
  event.number = ++counter;
  event.key = event.name === undefined ? null : encoded(event.name);
  if (event.kind === "continued" && events[0]?.kind === "continued") events.shift();
  events.unshift(event);
  if (events.length > kept) events.length = kept;
}

export const eventsOf = (key) => events.filter((event) => event.key === key || event.kind === "gap");

// {"event": "granted", ...}: its kind is called so here.
function parsed(message) {
  const {event: kind, ...more} = JSON.parse(message.data);
  return {kind, ...more};
}

export function connect(changed) {
  stream.connect({
    event(kind, message) {
      if (kind !== "begin") add({...parsed(message), isNode: kind === "node"});
      else if (counter === 0) add({...parsed(message), kind, isNode: false});
      changed();
    },
    continued: () => add({kind: "continued", isNode: false}),
    changed,
  });
}

function streamText() {
  if (stream.isLive())
    return "Every change that the cluster decides, in its order. A gap is shown where changes are missing.";
  if (stream.isOver()) return `This node tells no events: ${stream.whyNot()}.`;
  const why = stream.whyNot() === "" ? "" : `: ${stream.whyNot()}`;
  return `The stream of events is interrupted${why}. It continues by itself.`;
}

// What is shown where there are none.
export const noEventsText = () =>
  stream.isOver() ? streamText() : "Nothing has happened since this page was opened.";

// An event that was told late has happened before it arrived here.
const timeOf = (event) => (event.late ? "≤ " : "") + clock(event.at);

export function eventTable(caption, list, hasNames) {
  const columns = [{label: "Time", class: "time"}, {label: "What"},
    ...(hasNames ? [{label: "Name"}] : []), {label: "Token", class: "number"},
    {label: "Details"}];
  const rows = list.slice(0, drawn).map((event) => ({
    key: String(event.number),
    class: gravity(event),
    cells: [
      h("time", {datetime: event.at.toISOString()}, timeOf(event)),
      [event.isNode ? h("span", {class: "tag"}, "node") : null, event.isNode ? " " : null,
        h("span", {class: "what"}, textOf(event))],
      ...(hasNames ? [event.name === undefined ? nothing
        : h("a", {class: "mono name", href: `#/lock/${event.key}`}, shownName(event.name))] : []),
      tokenOf(event),
      detailsOf(event) || nothing,
    ],
  }));
  return table(caption, columns, rows, {dense: true});
}

export function eventsView(refresh) {
  const all = paused ?? events;
  const list = all.filter((event) =>
    filter === "" || event.key === null || shown(event.name).startsWith(filter));
  const news = paused ? events[0]?.number - (paused[0]?.number ?? 0) : 0;
  const toggle = () => {
    paused = paused ? null : [...events];
    refresh();
  };
  return [
    h("div", {class: "head"},
      h("h1", {}, "Events"),
      searchField("event-prefix", "Names that begin with", filter, (text) => {
        filter = text;
        refresh();
      }),
      h("button", {type: "button", "aria-pressed": String(paused !== null), onclick: toggle},
        paused ? `Continue${news > 0 ? ` (${number(news)} new)` : ""}` : "Pause")),
    h("p", {class: "note"}, streamText()),
    list.length > 0
      ? eventTable(`The newest first, at most ${drawn}`, list, true)
      : h("p", {class: "empty"}, noEventsText()),
  ];
}
