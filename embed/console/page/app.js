// The frame of the page: which view is shown, when it is asked for anew, and what is said when the
// node does not answer.
import * as activity from "./activity.js";
import {chip, clusterView} from "./cluster.js";
import {byId, fill, h, setText} from "./dom.js";
import * as events from "./events.js";
import * as lockPage from "./lock_page.js";
import * as locks from "./locks.js";
import {duration, shown} from "./server.js";
import * as server from "./server.js";
import * as sessions from "./sessions.js";
import * as waits from "./waits.js";

const period = 1500;    // between two questions
const staleAfter = 4000;
const afterEvent = 200;  // a burst of events is one question

let status = null;
let answeredAt = null;
let failure = "";
let loadedRoute = null;
let timer = null;
let asking = false;
let askAgain = false;

const route = () => location.hash.replace(/^#/, "") || "/";
const lockKey = () => (route().startsWith("/lock/") ? route().slice("/lock/".length) : null);

function load(where) {
  if (lockKey() !== null) return lockPage.load(lockKey());
  if (where === "/") return Promise.all([locks.load(), activity.load()]);
  if (where === "/waits") return waits.load();
  if (where === "/sessions") return sessions.load();
  return Promise.resolve();
}

function view() {
  const mayBreak = status?.console.may_break ?? false;
  if (lockKey() !== null) return lockPage.lockView(lockKey(), mayBreak, soon);
  if (route() === "/waits") return waits.waitsView(soon);
  if (route() === "/events") return events.eventsView(draw);
  if (route() === "/sessions") return sessions.sessionsView();
  if (route() === "/cluster") return status === null ? waiting() : clusterView(status);
  if (route() === "/")
    return locks.locksView(soon, loadedRoute === "/", activity.activityView());
  return unknownView();
}

const waiting = () => [h("h1", {}, "Cluster"), h("p", {class: "empty"}, "Asking the node…")];

const unknownView = () => [h("h1", {}, "No such page"),
  h("p", {class: "empty"}, "There is no page ", h("span", {class: "mono"}, shown(route())), ". ",
    h("a", {href: "#/"}, "All locks"))];

// --- drawing

function isStale() {
  return answeredAt === null ? failure !== "" : Date.now() - answeredAt > staleAfter;
}

// What is wrong with all that is shown, in one sentence.
function warning() {
  if (isStale()) {
    const since = answeredAt === null ? "" : ` for ${duration(Date.now() - answeredAt)}`;
    return `The console does not answer${since}. What is shown is old.`;
  }
  if (status === null) return "";
  const {node} = status;
  if (node.stopped) return `The node has stopped: ${shown(node.why_stopped)}. What is shown is old.`;
  if (!node.ready)
    return `This node is not ready: ${shown(node.why_not_ready)}. ` +
      "What is shown is its own copy, which may be old.";
  return failure;
}

function stateOf() {
  if (isStale()) return ["bad", "no answer"];
  if (status === null) return ["unknown", "connecting"];
  if (status.node.stopped) return ["bad", "stopped"];
  return status.node.ready ? ["ok", "live"] : ["warn", "not ready"];
}

function drawFrame() {
  const [is, text] = stateOf();
  byId("state").dataset.is = is;
  setText(byId("state"), text);
  const words = warning();
  byId("banner").hidden = words === "";
  setText(byId("banner"), words);
  document.body.classList.toggle("stale", isStale());
  for (const link of byId("tabs").querySelectorAll("a")) {
    const to = link.getAttribute("href").slice(1);
    const isHere = to === route() || (to === "/" && lockKey() !== null);
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (status === null) return;
  setText(byId("where"), `${shown(status.node.cluster)}, seen by node ${status.node.id}`);
  fill(byId("chips"), status.members.map((member) => chip(member, status.node)));
}

function draw() {
  drawFrame();
  fill(byId("main"), view().flat().filter((node) => node));
}

function setTitle() {
  const names = {"/": "Locks", "/waits": "Waits", "/sessions": "Sessions", "/events": "Events",
    "/cluster": "Cluster"};
  const name = lockKey() === null ? names[route()] ?? "No such page" : decodeURIComponentSafely(lockKey());
  document.title = `${name} – Mortise console`;
}

function decodeURIComponentSafely(key) {
  try {
    return decodeURIComponent(key);
  } catch {  // a name that is not UTF-8
    return key;
  }
}

// --- asking

async function ask() {
  if (asking) {
    askAgain = true;
    return;
  }
  asking = true;
  clearTimeout(timer);
  const where = route();
  try {
    status = await server.status();
    answeredAt = Date.now();
    await load(where);
    failure = "";
    if (where === route()) loadedRoute = where;
  } catch (error) {
    failure = error instanceof server.Refused ? `The node refused: ${error.message}.`
      : "The console does not answer.";
  }
  asking = false;
  draw();
  timer = setTimeout(ask, askAgain ? 0 : document.hidden ? 4 * period : period);
  askAgain = false;
}

let soonTimer = null;
function soon() {
  draw();
  clearTimeout(soonTimer);
  soonTimer = setTimeout(ask, 60);
}

let eventTimer = null;
function onEvent() {
  eventTimer ??= setTimeout(() => {
    eventTimer = null;
    draw();
    ask();
  }, afterEvent);
}

// The next element with the focus is in the new view, as on a page of its own.
addEventListener("hashchange", () => {
  loadedRoute = null;
  setTitle();
  fill(byId("main"), []);
  draw();
  ask();
  byId("main").focus({preventScroll: true});
  scrollTo(0, 0);
});
// Its target would be taken for a view.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) ask();
});
setInterval(drawFrame, 1000);
setTitle();
events.connect(onEvent);
ask();

