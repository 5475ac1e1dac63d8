// The dialog that breaks a lock, once its token was typed.
import {byId, say} from "./dom.js";
import {breakLock, plural, shownName} from "./server.js";

let asked = null;
let then = () => {};
const dialog = byId("break");
const form = byId("break-form");

const reasonMax = 256;  // bytes, which the node counts
const reason = () => byId("break-reason").value.trim();
const excess = () => new TextEncoder().encode(reason()).length - reasonMax;

const isConfirmed = () => byId("break-token").value.trim() === asked?.token && reason() !== "" &&
  excess() <= 0;

function check() {
  byId("break-do").disabled = !isConfirmed();
  byId("break-problem").textContent = excess() <= 0 ? ""
    : `The reason is too long by ${plural(excess(), "byte")}: it has at most ${reasonMax}.`;
}

// `what` is {name, token, who, closed}: `closed` is the reason why the name is closed, if it is a
// closed name that is to be opened.
export function openBreak(what, done) {
  asked = what;
  then = done;
  form.reset();
  byId("break-problem").textContent = "";
  byId("break-do").disabled = true;
  const isClosed = what.closed !== undefined;
  byId("break-title").textContent = isClosed ? "Open a closed name" : "Break a lock";
  byId("break-do").textContent = isClosed ? "Open the name" : "Break the lock";
  byId("break-what").textContent = isClosed
    ? `${shownName(what.name)} is kept closed by a former hold with token ${what.token}.`
    : `${shownName(what.name)} is held by ${what.who}, with token ${what.token}.`;
  byId("break-effect").textContent = isClosed
    ? "The name opens for the next waiter before its time is over."
    : "The holder is told that its hold is lost. The name stays closed until the holder’s node " +
      "has confirmed that, or cannot rely on the hold any more.";
  byId("break-expected").textContent = what.token;
  byId("break-now").checked = what.closed === "broken";
  dialog.showModal();
  byId("break-reason").focus();
}

form.addEventListener("input", check);
byId("break-cancel").addEventListener("click", () => dialog.close());

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!isConfirmed()) return;
  byId("break-do").disabled = true;
  byId("break-problem").textContent = "";
  try {
    await breakLock({
      name: typeof asked.name === "string" ? asked.name : {hex: asked.name.hex},
      token: asked.token,
      confirm: byId("break-token").value.trim(),
      reason: reason(),
      now: byId("break-now").checked,
    });
    dialog.close();
    say(`${asked.closed === undefined ? "Broken" : "Opened"}: ${shownName(asked.name)}, token ${asked.token}`);
    then();
  } catch (error) {
    byId("break-problem").textContent = error.message;
    byId("break-do").disabled = !isConfirmed();
  }
});
