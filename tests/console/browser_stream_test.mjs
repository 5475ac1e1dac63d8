// The page's stream of events: pages that nobody sees, refusals, gaps; in headless Chromium.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import test, {after, before} from "node:test";

import {startCluster} from "./browser_cluster.mjs";

const {TEST_BROWSER, TEST_FOLDER} = process.env;
const {chromium} = createRequire(`${TEST_FOLDER}/`)("playwright-core");

let cluster;
let browser;
let context;
let asked = [];  // the addresses of the streams
let refusal = null;  // what the next ones are answered

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const within = async (what, condition, ms = 15000) => {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await pause(50);
  }
};
const isLive = (page) => page.evaluate(async () => (await import("/event_stream.js")).isLive());
const rowOf = (page, text) => page.locator("tbody tr").filter({hasText: text});
const streams = async () => (await (await fetch(`${cluster.url}api/v1/status`)).json()).console.streams;

// Chromium without a screen never hides a page by itself.
const show = (page, isShown) => page.evaluate((hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}, !isShown);

async function open(hash = "/events") {
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  await page.route("**/api/v1/events*", (route) => {
    asked.push(route.request().url());
    return refusal === null ? route.continue() : route.fulfill(refusal);
  });
  await page.goto(`${cluster.url}#${hash}`);
  await page.locator("main h1").waitFor();
  return page;
}

const refused = (status, error, reason) =>
  ({status, contentType: "application/json", body: JSON.stringify({error, reason})});

async function acquire(name) {
  cluster.actors[0].tell(`acquire ${name} exclusive worker`);
  await cluster.actors[0].expect(new RegExp(`^held ${name}`));
}

before(async () => {
  cluster = await startCluster();
  browser = await chromium.launch({executablePath: TEST_BROWSER,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
  context = await browser.newContext();
});
after(async () => {
  await browser?.close();
  await cluster?.end();
});

test("a page that nobody sees has no stream, and misses nothing", async () => {
  const first = await open();
  await within("the first page", () => isLive(first));
  await acquire("seen");
  await rowOf(first, "seen").waitFor();
  await show(first, false);
  await acquire("meanwhile");
  const pages = [first];
  for (let count = 2; count <= 8; ++count) {
    const page = await open("/");
    pages.push(page);
    await within(`page ${count}`, () => isLive(page));
    await page.locator("#state", {hasText: "live"}).waitFor();
    await show(page, false);
  }
  await within("the end of their streams", async () => (await streams()) === 0);
  await show(first, true);
  await rowOf(first, "meanwhile").waitFor();
  assert.match(await rowOf(first, "meanwhile").innerText(), /^≤ /);
  await rowOf(first, "the stream continues").waitFor();
  assert.equal(await rowOf(first, "events are missing here").count(), 0);
  await acquire("at-present");
  await rowOf(first, "at-present").waitFor();
  assert.match(await rowOf(first, "at-present").innerText(), /^\d/);
  assert.equal(await rowOf(first, "seen").count(), 1);
  for (const page of pages) await page.close();
});

test("what happens while the stream is refused is shown afterwards", async () => {
  const page = await open();
  await within("the page", () => isLive(page));
  await acquire("earlier");
  await rowOf(page, "earlier").waitFor();
  refusal = refused(503, "too_many_streams", "at most 8 streams of events at a time");
  await show(page, false);
  await show(page, true);
  await page.getByText("interrupted: at most 8 streams of events at a time. It continues").waitFor();
  await acquire("refused-meanwhile");
  asked = [];
  refusal = null;
  await rowOf(page, "refused-meanwhile").waitFor();
  assert.match(asked[0], /\/api\/v1\/events\?from=\d+/);
  assert.equal(await rowOf(page, "earlier").count(), 1);
  assert.equal(await page.getByText("interrupted").count(), 0);
  await page.close();
});

test("a gap is shown when the stream continues where events are not known any more", async () => {
  const page = await open();
  await within("the page", () => isLive(page));
  await show(page, false);
  refusal = {status: 200, contentType: "text/event-stream",
    body: 'event: lock\ndata: {"event":"gap"}\n\n'};
  await show(page, true);
  await rowOf(page, "events are missing here").first().waitFor();
  refusal = null;
  await within("the stream", () => isLive(page));
  await page.close();
});

test("a node that tells no events is asked once, and its reason is shown", async () => {
  refusal = refused(400, "invalid_argument",
    "a client node keeps no copy of the log: observe on a member");
  asked = [];
  const page = await open();
  const words = "This node tells no events: a client node keeps no copy of the log: observe on a member.";
  await page.getByText(words).first().waitFor();
  const count = asked.length;
  await pause(7000);
  assert.equal(asked.length, count);
  await page.goto(`${cluster.url}#/lock/anything`);
  await page.getByText(words).first().waitFor();
  refusal = null;
  await page.close();
});
