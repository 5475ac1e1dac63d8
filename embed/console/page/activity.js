// What is contended, and how the last quarter of an hour was: small charts, and the hottest names.
import {h} from "./dom.js";
import {linkTo} from "./locks.js";
import {duration, encoded, number, plural} from "./server.js";
import * as server from "./server.js";

const slots = 90;
const height = 40;
const askEvery = 4000;   // a slot has ten seconds
const shortest = 1000;   // a slot that has lasted less makes one grant look like many

let last = null;
let askedAt = 0;

// The page is of use without it: this node may not be allowed to observe every name.
export async function load() {
  if (Date.now() - askedAt < askEvery) return;
  askedAt = Date.now();
  try {
    last = await server.activity();
  } catch (error) {
    if (!(error instanceof server.Refused)) throw error;
    last = null;
  }
}

// --- words

export function rateText(perSecond) {
  if (perSecond === 0) return "0";
  return perSecond < 10 ? perSecond.toFixed(1) : number(Math.round(perSecond));
}

export function timeText(us) {
  if (us === 0) return "0";
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${us < 1e4 ? (us / 1e3).toFixed(1) : Math.round(us / 1e3)} ms`;
  return us < 1e7 ? `${(us / 1e6).toFixed(1)} s` : duration(us / 1e3);
}

// --- charts

// Steps from left to right; the newest slot is at the right edge.
export function stepsOf(values, most) {
  const y = (value) => Math.round((height - 1 - (value / most) * (height - 3)) * 100) / 100;
  const begin = slots - values.length;
  return values.map((value, at) =>
    `${at === 0 ? `M${begin} ${y(value)}` : `V${y(value)}`}H${begin + at + 1}`).join("");
}

// `lines`: {name, values}, the most important one first. `text` makes words of a value.
function chart(title, lines, text) {
  const most = Math.max(...lines.flatMap(({values}) => values), 0);
  const words = lines.map(({name, values}) => `${name} ${text(values.at(-1) ?? 0)}`.trim());
  const scale = most === 0 ? 1 : most;
  const steps = lines.map(({values}) => stepsOf(values, scale));
  const begin = slots - lines[0].values.length;
  return h("figure", {class: "chart"},
    h("figcaption", {}, h("span", {}, title), h("strong", {}, words.join(" · "))),
    h("svg", {viewBox: `0 0 ${slots} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `${title} in the last 15 minutes: now ${words.join(", ")}; most ${text(most)}`},
    steps[0] ? h("path", {class: "area", d: `${steps[0]}V${height}H${begin}Z`}) : null,
    steps.map((d, at) => h("path", {class: at === 0 ? "line" : "line second", d}))),
    h("p", {class: "scale", "aria-hidden": "true"},
      h("span", {}, "15 min ago"), h("span", {}, `most ${text(most)}`)));
}

const seriesOf = (activity, value) =>
  activity.slots.filter((slot) => slot.length_ms >= shortest).map(value);

function charts(activity) {
  const of = (value) => seriesOf(activity, value);
  return h("div", {class: "charts"},
    chart("Grants per second",
      [{name: "", values: of((slot) => slot.grants * 1000 / slot.length_ms)}], rateText),
    chart("Waiting requests", [{name: "", values: of((slot) => slot.waiters_max)}], number),
    chart("Wait", [{name: "p99", values: of((slot) => slot.wait_p99_us)},
      {name: "p50", values: of((slot) => slot.wait_p50_us)}], timeText),
    chart("Hold", [{name: "p99", values: of((slot) => slot.hold_p99_us)},
      {name: "p50", values: of((slot) => slot.hold_p50_us)}], timeText));
}

// --- the hottest names

const hotRow = (hot) =>
  h("li", {"data-key": encoded(hot.name)},
    linkTo(hot.name), " ",
    h("span", {class: "count"}, plural(hot.waiters, "waiter")), " ",
    h("span", {class: "faint"}, `oldest ${duration(hot.oldest_wait_ms)}, ` +
      (hot.kind === "lock" || hot.kind === "semaphore" ? plural(hot.holders, "holder") : hot.kind)));

function summary(activity) {
  if (activity.waiters === 0) return "Nobody waits.";
  return `${plural(activity.waiters, "request")} for ${plural(activity.contended_names, "name")}; ` +
    `the oldest has waited for ${duration(activity.oldest_wait_ms)}.`;
}

export function activityView() {
  if (last === null) return null;
  return h("section", {class: "activity", "aria-label": "Activity"},
    charts(last),
    h("p", {class: "note"}, summary(last)),
    last.hottest.length > 0
      ? h("ol", {class: "hottest", "aria-label": "Names with the most waiters"},
        last.hottest.map(hotRow))
      : null);
}
