// The console in headless Chromium, before three real nodes.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import test, {after, before} from "node:test";

import {startCluster} from "./browser_cluster.mjs";

const {TEST_BROWSER, TEST_FOLDER} = process.env;
const load = createRequire(`${TEST_FOLDER}/`);
const {chromium} = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");

let cluster;
let browser;
let page;
const complaints = [];  // of the browser: errors, and what the content policy has stopped
const requested = new Set();

async function newPage(options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 860}, ...options});
  const made = await context.newPage();
  made.setDefaultTimeout(15000);
  made.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  made.on("console", (message) => {
    // An answer that refuses, and a stream that ends with the node, are no faults of the page.
    const isAnswer = /status of 4\d\d|ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(message.text());
    if (message.type() === "error" && !isAnswer) complaints.push(message.text());
  });
  made.on("request", (request) => requested.add(new URL(request.url()).origin));
  return made;
}

const shoot = (name, of = page, options = {}) =>
  of.screenshot({path: `${TEST_FOLDER}/pictures/${name}.png`, ...options});
const go = async (hash, of = page) => {
  await of.goto(`${cluster.url}#${hash}`);
  await of.locator("main h1").waitFor();
};
const rows = (of = page) => of.locator("tbody tr");
const cells = (row) => row.locator("td").allInnerTexts();
const within = async (what, condition, ms = 15000) => {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

// Serious faults of accessibility, and those of contrast, in words.
async function faultsOf(of) {
  // The content policy forbids a script in the page; one that the browser itself runs is none.
  await of.evaluate(axe);
  const found = await of.evaluate(() => window.axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}));
  return found.violations.flatMap((fault) =>
    fault.nodes.map((node) => `${fault.id}: ${node.target} ${node.failureSummary}`));
}

before(async () => {
  cluster = await startCluster();
  browser = await chromium.launch({executablePath: TEST_BROWSER,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
  page = await newPage();
  const [second, third] = cluster.actors;
  second.tell("acquire orders/42 exclusive checkout");
  const [, token] = await second.expect(/^held orders\/42 (\d+)/);
  cluster.token = token;
  third.tell("acquire orders/42 shared report");
  await within("the first waiter", async () => (await waitersOf("orders/42")) === 1);
  second.tell("acquire orders/42 exclusive refund");
  await within("the second waiter", async () => (await waitersOf("orders/42")) === 2);
});
after(async () => {
  await browser?.close();
  await cluster?.end();
});

async function waitersOf(name) {
  const answer = await fetch(`${cluster.url}api/v1/lock?name=${encodeURIComponent(name)}`);
  return (await answer.json()).waiters.length;
}

test("the list shows who holds and who waits, as it happens", async () => {
  await go("/");
  const row = rows().filter({hasText: "orders/42"});
  await row.waitFor();
  assert.match(await row.innerText(), /exclusive[\s\S]*checkout · node 2/);
  assert.match(await row.innerText(), new RegExp(cluster.token));
  assert.match(await row.innerText(), /2\s+first: report · node 3/);
  cluster.actors[1].tell("acquire cron/nightly exclusive nightly");
  await rows().filter({hasText: "cron/nightly"}).waitFor();
  assert.deepEqual(await page.locator("#chips li").allInnerTexts().then((all) => all.length), 3);
  await page.locator("#state", {hasText: "live"}).waitFor();
});

test("the list has charts above it, and the names with the most waiters", async () => {
  await go("/");
  const charts = page.locator("figure.chart");
  await charts.nth(3).waitFor();
  assert.equal(await charts.count(), 4);
  await within("a line", async () => (await charts.nth(1).locator("path.line").getAttribute("d")) !== "");
  assert.match(await charts.nth(1).locator("svg").getAttribute("aria-label"),
    /^Waiting requests in the last 15 minutes: now 2; most 2$/);
  const hot = page.locator(".hottest li").first();
  assert.match(await hot.innerText(), /orders\/42\s+2 waiters\s+oldest .*, 1 holder/);
  await shoot("activity");
  await hot.locator("a").click();
  await page.getByRole("heading", {name: "orders/42"}).waitFor();
});

test("the page of a name has its queue in order, and the time that is left of a lease", async () => {
  await go("/lock/orders%2F42");
  const [holders, queue] = [page.locator("table").nth(0), page.locator("table").nth(1)];
  await queue.waitFor();
  const holder = await cells(rows(holders).first());
  assert.equal(holder[0], "exclusive");
  assert.equal(holder[1], "checkout");
  assert.match(holder[2], /node 2, session \d+/);
  assert.equal(holder[3], cluster.token);
  assert.match(holder[5], /[\d.]+ s/);
  const waiting = await rows(queue).allInnerTexts();
  assert.equal(waiting.length, 2);
  assert.match(waiting[0], /^1\s+shared\s+report\s+node 3/);
  assert.match(waiting[1], /^2\s+exclusive\s+refund\s+node 2/);
  const meter = page.locator("meter").first();
  const left = Number(await meter.getAttribute("value"));
  assert.ok(left > 0 && left <= 6300, `${left} ms`);
});

test("a break does nothing without its token, and works with it", async () => {
  await go("/lock/orders%2F42");
  await page.getByRole("button", {name: `Break orders/42, token ${cluster.token}`}).click();
  const doIt = page.getByRole("button", {name: "Break the lock"});
  assert.ok(await doIt.isDisabled());
  await page.getByLabel("Reason").fill("checkout hangs");
  assert.ok(await doIt.isDisabled());
  await page.getByLabel("type the token").fill(`${Number(cluster.token) + 1}`);
  assert.ok(await doIt.isDisabled());
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({state: "hidden"});
  assert.ok(!cluster.actors[0].lines.some((line) => line.startsWith("lost")));

  await page.getByRole("button", {name: `Break orders/42, token ${cluster.token}`}).click();
  assert.equal(await page.getByLabel("Reason").inputValue(), "");
  await page.getByLabel("Reason").fill("checkout hangs");
  await page.getByLabel("type the token").fill(cluster.token);
  await shoot("break");
  await doIt.click();
  await page.locator("#said", {hasText: "Broken"}).waitFor();
  await cluster.actors[0].expect(/^lost orders\/42 broken/);
  await cluster.actors[1].expect(/^held orders\/42/);
  await rows(page.locator("table").first()).filter({hasText: "report"}).waitFor();
  const history = page.locator("table").last();
  await rows(history).filter({hasText: "broken"}).first().waitFor();
});

test("a reason that is too long for the cluster is told before it is sent", async () => {
  await go("/lock/orders%2F42");
  const button = page.getByRole("button", {name: /^Break orders\/42/}).first();
  const token = (await button.getAttribute("aria-label")).match(/\d+$/)[0];
  await button.click();
  const doIt = page.getByRole("button", {name: "Break the lock"});
  await page.getByLabel("type the token").fill(token);
  await page.getByLabel("Reason").fill("ä".repeat(128));  // 256 bytes
  assert.ok(await doIt.isEnabled());
  await page.getByLabel("Reason").fill("ä".repeat(129));
  assert.ok(await doIt.isDisabled());
  await page.locator("#break-problem", {hasText: "too long by 2 bytes"}).waitFor();
  await page.getByRole("button", {name: "Cancel"}).click();
});

test("characters that do not show are written as codes, the same as by the node", async () => {
  const source = readFileSync(new URL("../../embed/values/escaped.cpp", import.meta.url), "utf8");
  const rule = source.match(/bool misleads[\s\S]*?\n}/)[0];
  const spans = [[0, Number(rule.match(/point < (0x\w+)/)[1]) - 1],
    ...[...rule.matchAll(/within\((0x\w+), (0x\w+)\)/g)].map((found) => [found[1], found[2]]),
    ...[...rule.matchAll(/point == (0x\w+)/g)].map((found) => [found[1], found[1]])]
    .map((span) => span.map(Number));
  assert.ok(spans.length > 8);
  const wrong = await page.evaluate(async (ranges) => {
    const {shown} = await import("/server.js");
    const wrong = [];
    for (let point = 0; point <= 0x10ffff; ++point) {
      const misleads = ranges.some(([first, last]) => first <= point && point <= last);
      const text = String.fromCodePoint(point);
      const expected = misleads ? `\\u{${point.toString(16)}}` : text;
      if (shown(text) !== expected) wrong.push(point.toString(16));
    }
    return wrong;
  }, spans);
  assert.deepEqual(wrong, []);
});

test("a token that is not the holder's any more breaks nothing, and the page says so", async () => {
  await go("/lock/orders%2F42");
  const button = page.getByRole("button", {name: /^Break orders\/42/}).first();
  const token = (await button.getAttribute("aria-label")).match(/\d+$/)[0];
  await button.click();
  cluster.actors[1].tell("release orders/42");
  await cluster.actors[0].expect(new RegExp(`^held orders/42 (?!${cluster.token}$)\\d+`));
  await page.getByLabel("Reason").fill("too late");
  await page.getByLabel("type the token").fill(token);
  await page.getByRole("button", {name: "Break the lock"}).click();
  await page.locator("#break-problem", {hasText: "nobody holds the lock with this token"}).waitFor();
  await page.getByRole("button", {name: "Cancel"}).click();
});

test("holders that one entry of the log has let in are as many rows, in each drawing", async () => {
  cluster.actors[0].tell("readers catalogue 12");
  await cluster.actors[0].expect(/^read catalogue/);
  await go("/lock/catalogue");
  const table = page.locator("table").first();
  await within("the holders", async () => (await rows(table).count()) === 12);
  assert.equal(new Set(await rows(table).locator("td:nth-child(4)").allInnerTexts()).size, 1);
  for (let drawing = 0; drawing < 3; ++drawing) {
    await page.waitForTimeout(1600);
    assert.equal(await rows(table).count(), 12);
    assert.equal(await page.getByRole("button", {name: /^Break catalogue/}).count(), 12);
  }
  const labels = await rows(table).locator("td:nth-child(2)").allInnerTexts();
  assert.equal(new Set(labels).size, 12);
});

test("two children of one key stay two, and those that moved stay themselves", async () => {
  const drawn = await page.evaluate(async () => {
    const {fill, h} = await import("/dom.js");
    const list = h("ul");
    const draw = (keys) => {
      fill(list, keys.map((key) => h("li", {"data-key": key}, key)));
      return [...list.children].map((each) => each.textContent).join("");
    };
    const all = ["aab", "aab", "baa", "aaab", "b", "bab"].map((keys) => draw([...keys]));
    const first = list.firstChild;
    draw(["a", "b"]);
    return {all, isKept: list.lastChild === first};
  });
  assert.deepEqual(drawn, {all: ["aab", "aab", "baa", "aaab", "b", "bab"], isKept: true});
});

test("readers that share a token have been there for as long as each of them has", async () => {
  const [second, third] = cluster.actors;
  await go("/lock/shelf");
  const table = page.locator("table").first();
  const heldFor = async (label) =>
    (await rows(table).filter({hasText: label}).locator("td:nth-child(5) span").first().innerText());
  second.tell("acquire shelf shared early");
  await second.expect(/^held shelf/);
  await rows(table).filter({hasText: "early"}).waitFor();
  await within("its time", async () => /^[3-9] s$/.test(await heldFor("early")));
  third.tell("acquire shelf shared late");
  await third.expect(/^held shelf/);
  await rows(table).filter({hasText: "late"}).waitFor();
  assert.equal(new Set(await rows(table).locator("td:nth-child(4)").allInnerTexts()).size, 1);
  assert.match(await heldFor("early"), /^([3-9]|\d\d) s$/);
  assert.match(await heldFor("late"), /^[0-2](\.\d)? s$/);
  // A page that did not see them begin says the same: the cluster knows it.
  const other = await newPage();
  await go("/lock/shelf", other);
  const there = rows(other.locator("table").first()).filter({hasText: "early"});
  await there.waitFor();
  assert.match(await there.locator("td:nth-child(5) span").first().innerText(), /^([4-9]|\d\d) s$/);
  await other.context().close();
  for (const actor of [second, third]) actor.tell("release shelf");
});

test("a prefix narrows the list, and pages follow each other", async () => {
  const [second] = cluster.actors;
  for (let at = 10; at < 70; ++at) second.tell(`acquire jobs/${at} exclusive worker-${at}`);
  await second.expect(/^held jobs\/69/);
  await go("/");
  await rows().filter({hasText: "jobs/10"}).waitFor();
  await page.getByLabel("Names that begin with").fill("orders/");
  await within("the prefix", async () => (await rows().count()) === 1);
  assert.match(await rows().first().innerText(), /orders\/42/);
  await page.getByLabel("Names that begin with").fill("jobs/");
  await within("50 names", async () => (await rows().count()) === 50);
  await page.getByRole("button", {name: "Next page"}).click();
  await within("the rest", async () => (await rows().count()) === 10);
  assert.match(await rows().first().innerText(), /jobs\/60/);
  assert.ok(await page.getByRole("button", {name: "Next page"}).isDisabled());
  await page.getByRole("button", {name: "Previous page"}).click();
  await within("the first page", async () => (await rows().count()) === 50);
  await page.getByLabel("Names that begin with").fill("nothing/");
  await page.getByText("No name begins like this.").waitFor();
  await page.getByLabel("Names that begin with").fill("");
  for (let at = 16; at < 70; ++at) second.tell(`release jobs/${at}`);
  await within("the end of most jobs", async () => (await rows().count()) < 12);
});

test("semaphores, latches, barriers and closed names are shown as such", async () => {
  const [second, third] = cluster.actors;
  second.tell("permits tickets 3 2 box-office");
  third.tell("permits tickets 3 2 web-shop");
  second.tell("latch warm-up 5");
  third.tell("arrive phase 4");
  second.tell("min_hold deploy/web");
  await second.expect(/^closed deploy\/web/);
  await go("/");
  const text = async (name) => rows().filter({hasText: name}).first().innerText();
  await rows().filter({hasText: "tickets"}).waitFor();
  await within("the waiter of the semaphore",
    async () => /first: (box-office|web-shop)/.test(await text("tickets")));
  assert.match(await text("tickets"), /semaphore, 3 permits/);
  assert.match(await text("tickets"), /slots 0, 1/);
  assert.match(await text("warm-up"), /latch, 4 to be counted/);
  assert.match(await text("phase"), /barrier, 1 of 4 arrived/);
  assert.match(await text("deploy/web"), /closed[\s\S]*min_hold/);
  await go("/lock/phase");
  await page.getByText("1 of 4 parties have arrived in phase 0").waitFor();
  assert.match(await rows(page.locator("table").first()).first().innerText(),
    /^node 3\s+\d+\s+1\s+1$/);
  await go("/lock/warm-up");
  await page.locator("main .tag", {hasText: "latch, 4 to be counted"}).waitFor();
  assert.ok(!(await page.locator("main").innerText()).includes("Holders"));
  await go("/lock/deploy%2Fweb");
  await page.getByText("the min_hold of its last holder runs").first().waitFor();
  assert.match(await page.locator("table").first().innerText(), /(9|10) min \d+ s/);
  await page.getByRole("button", {name: /^Open deploy\/web/}).click();
  const token = await page.locator("#break-expected").innerText();
  await page.getByLabel("Reason").fill("the fix has to go out");
  await page.getByLabel("type the token").fill(token);
  await page.getByRole("button", {name: "Open the name"}).click();
  await page.getByText("Nobody holds it.").waitFor();
  await within("it is open", async () => !(await page.locator("main").innerText()).includes("Closed\n"));
});

test("the picture of waits shows a chain, and the table says the same", async () => {
  const [second, third] = cluster.actors;
  second.tell("acquire accounts/7 exclusive refund");
  await second.expect(/^held accounts\/7/);
  third.tell("acquire accounts/7 exclusive transfer");
  third.tell("acquire ledger exclusive transfer");
  await third.expect(/^held ledger/);
  second.tell("acquire ledger shared audit");
  second.tell("acquire ledger shared export");
  await go("/waits");
  await page.locator("svg .vertex").first().waitFor();
  await within("the whole chain", async () => (await page.locator("svg .vertex").count()) >= 8);
  await page.locator("svg .vertex", {hasText: "accounts/7"}).waitFor();
  const row = await cells(rows().filter({hasText: "accounts/7"}));
  assert.match(row[1], /exclusive: transfer · node 3/);
  assert.match(row[2], /exclusive: refund · node 2/);
  await shoot("waits");
});

test("many waiters of one name are one box, and those that hold something are not in it", async () => {
  const [second, third] = cluster.actors;
  second.tell("acquire crowded exclusive owner");
  await second.expect(/^held crowded/);
  third.tell("acquire linked exclusive link");
  await third.expect(/^held linked/);
  second.tell("acquire linked exclusive behind");
  third.tell("acquire crowded exclusive link");
  for (let at = 0; at < 5; ++at) third.tell(`acquire crowded shared job-${at}`);
  await go("/waits");
  const together = page.locator("svg .vertex.more", {hasText: "more wait"});
  await within("one box for five", async () =>
    (await together.count()) === 1 && /5 more wait/.test(await together.textContent()));
  assert.equal(await page.locator("svg .vertex", {hasText: "job-3"}).count(), 0);
  assert.equal(await page.locator("svg .vertex.party", {hasText: "link"}).count(), 1);
  await shoot("waits-crowded");
  second.tell("release crowded");
  third.tell("release linked");
});

test("a client is called one, wherever nodes have their ids", async () => {
  const client = cluster.client("backup", "dump");
  try {
    await go("/");
    await within("its lock", async () =>
      /exclusive[\s\S]*dump · client/.test(await rows().filter({hasText: "backup"}).innerText()));
    await go("/lock/backup");
    await page.getByText(/client, session \d+/).waitFor();
  } finally {
    await client.kill();
  }
});

test("events are live, and can be narrowed and paused", async () => {
  await go("/events");
  cluster.actors[1].tell("acquire cron/hourly exclusive hourly");
  await rows().filter({hasText: "cron/hourly"}).first().waitFor();
  cluster.actors[1].tell("release cron/hourly");
  const released = rows().filter({hasText: "cron/hourly"}).filter({hasText: "released"});
  await released.first().waitFor();
  await shoot("events");
  await page.getByLabel("Names that begin with").fill("cron/hourly");
  await within("only that name", async () =>
    (await rows().filter({hasText: "jobs/"}).count()) === 0);
  await page.getByRole("button", {name: "Pause"}).click();
  const count = await rows().count();
  cluster.actors[1].tell("acquire cron/hourly shared again");
  await page.getByRole("button", {name: /Continue \(\d+ new\)/}).waitFor();
  assert.equal(await rows().count(), count);
  await page.getByRole("button", {name: /Continue/}).click();
  await rows().filter({hasText: "again"}).first().waitFor();
});

test("nothing flickers: rows stay the same elements while they are asked for anew", async () => {
  await go("/");
  cluster.actors[0].tell("min_hold deploy/api");
  await rows().filter({hasText: "deploy/api"}).filter({hasText: "closed"}).waitFor();
  await within("no more is said", async () => (await page.locator("#said").innerText()) === "");
  await page.mouse.move(640, 840);
  await shoot("locks");
  await page.evaluate(() => {
    for (const row of document.querySelectorAll("tbody tr")) row.dataset.seen = "yes";
    window.removed = 0;
    new MutationObserver((all) => {
      for (const one of all) window.removed += one.removedNodes.length;
    }).observe(document.querySelector("tbody"), {childList: true});
  });
  await page.waitForTimeout(3500);
  assert.equal(await page.evaluate(() => window.removed), 0);
});

test("a keyboard is enough", async () => {
  await go("/");
  await page.reload();
  await rows().filter({hasText: "ledger"}).waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the content");
  await page.keyboard.press("Enter");
  await within("the focus in the content",
    () => page.evaluate(() => document.activeElement?.id === "main"));
  const row = rows().getByRole("link", {name: "ledger"});
  for (let at = 0; at < 200 && (await focused()) !== "ledger"; ++at) await page.keyboard.press("Tab");
  await row.waitFor();
  assert.equal(await focused(), "ledger");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: "ledger"}).waitFor();
  for (let at = 0; at < 60 && !/^Break/.test(await focused()); ++at) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  // The focus does not leave the dialog, and comes back where it was.
  for (let at = 0; at < 12; ++at) {
    await page.keyboard.press("Tab");
    const inside = await page.evaluate(() => document.activeElement === document.body ||
      document.getElementById("break").contains(document.activeElement));
    assert.ok(inside);
  }
  await page.keyboard.press("Escape");
  assert.match(await focused(), /^Break/);
});

test("the theme follows the system until somebody chooses", async () => {
  const dark = await newPage({colorScheme: "dark"});
  await go("/lock/ledger", dark);
  await dark.locator("table").first().waitFor();
  const back = () => dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const night = await back();
  assert.equal(night, "rgb(18, 23, 26)");
  await shoot("lock-dark", dark);
  assert.deepEqual(await faultsOf(dark), []);
  await dark.getByRole("button", {name: "Dark"}).click();
  assert.notEqual(await back(), night);
  await dark.reload();
  await dark.locator("main h1").waitFor();
  assert.notEqual(await back(), night);
  await dark.context().close();
});

test("360 pixels are enough", async () => {
  const small = await newPage({viewport: {width: 360, height: 740}});
  for (const view of ["/", "/waits", "/sessions", "/events", "/cluster", "/lock/ledger"]) {
    await go(view, small);
    await small.waitForTimeout(300);
    const overflow = await small.evaluate(() =>
      document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(overflow <= 0, `${view} is ${overflow} pixels too wide`);
    await shoot(`small${view.replaceAll("/", "-")}`, small, {fullPage: view === "/lock/ledger"});
    assert.deepEqual(await faultsOf(small), []);
  }
  await small.context().close();
});

test("axe finds no fault in any view", async () => {
  for (const view of ["/", "/waits", "/sessions", "/events", "/cluster", "/lock/ledger"]) {
    await go(view);
    await page.waitForTimeout(300);
    assert.deepEqual(await faultsOf(page), [], view);
  }
  await go("/lock/ledger");
  await page.getByRole("button", {name: /^Break/}).first().click();
  assert.deepEqual(await faultsOf(page), []);
  await page.keyboard.press("Escape");
});

test("what moves can be told not to", async () => {
  const calm = await newPage({reducedMotion: "reduce"});
  await go("/", calm);
  const moving = await calm.evaluate(() => [...document.querySelectorAll("*")].filter((each) =>
    getComputedStyle(each).transitionDuration !== "0s" ||
    getComputedStyle(each).animationName !== "none").length);
  assert.equal(moving, 0);
  await calm.context().close();
});

test("a node that has died turns red", async () => {
  await go("/cluster");
  await within("three that are well", async () => (await page.locator("tr.member.ok").count()) === 3);
  await shoot("cluster");
  await cluster.actors[1].kill();
  const row = page.locator("tr.member.bad", {hasText: "Node 3"});
  await row.waitFor();
  const chip = page.locator('#chips .chip[data-is="bad"]', {hasText: "node 3"});
  await chip.waitFor();
  const colour = await chip.locator(".dot").evaluate((dot) => getComputedStyle(dot).backgroundColor);
  const [red, green, blue] = colour.match(/\d+/g).map(Number);
  assert.ok(red > 2 * green && red > 2 * blue, colour);
  await page.waitForTimeout(1500);
  await shoot("cluster-dead");
  assert.deepEqual(await faultsOf(page), []);
  await go("/");  // what it held expires
  await within("its lease ends",
    async () => !(await page.locator("main").innerText()).includes("nightly"), 30000);
});

test("without a majority the page says that it shows this node's own copy", async () => {
  await go("/");
  await cluster.actors[0].kill();
  await page.locator("#banner", {hasText: "not ready"}).waitFor({timeout: 30000});
  await page.locator("#state", {hasText: "not ready"}).waitFor();
  assert.ok((await rows().count()) > 0);
  await shoot("no-majority");
});

test("when the console is gone the page says since when", async () => {
  await go("/");
  await cluster.node.kill();
  await page.locator("#banner", {hasText: "does not answer for"}).waitFor({timeout: 20000});
  await page.locator("body.stale").waitFor();
  assert.ok((await rows().count()) > 0);  // what was known stays
  await shoot("stale");
});

test("the browser has no complaints, and asked nobody else", () => {
  assert.deepEqual(complaints, []);
  assert.deepEqual([...requested], [new URL(cluster.url).origin]);
});
