// What the page lists: since when and from where, sessions, searches; in headless Chromium.
import assert from "node:assert/strict";
import {createRequire} from "node:module";
import test, {after, before} from "node:test";

import {startCluster} from "./browser_cluster.mjs";

const {TEST_BROWSER, TEST_FOLDER} = process.env;
const {chromium} = createRequire(`${TEST_FOLDER}/`)("playwright-core");

let cluster;
let browser;
let page;

const rows = () => page.locator("tbody tr");
const names = async () => rows().locator("td:first-child a").allInnerTexts();
const go = async (hash) => {
  await page.goto(`${cluster.url}#${hash}`);
  await page.locator("main h1").waitFor();
};
const within = async (what, condition, ms = 15000) => {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
const are = (what, expected) => within(what, async () =>
  JSON.stringify(await names()) === JSON.stringify(expected));

before(async () => {
  cluster = await startCluster();
  browser = await chromium.launch({executablePath: TEST_BROWSER,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
  page = await browser.newPage();
  page.setDefaultTimeout(15000);
  const [second, third] = cluster.actors;
  for (const name of ["orders/42", "carts/42", "orders/17"]) {
    second.tell(`acquire ${name} exclusive checkout`);
    await second.expect(new RegExp(`^held ${name} `));
    await new Promise((resolve) => setTimeout(resolve, 2100));  // ages are a second apart
  }
  for (const name of ["orders/17", "orders/17", "carts/42"])
    third.tell(`acquire ${name} exclusive report`);
});
after(async () => {
  await browser?.close();
  await cluster?.end();
});

test("a holder and who waits have a time, and a place from which they come", async () => {
  await go("/lock/orders%2F17");
  const whence = new RegExp(`\\S+@\\S+:${cluster.actors[0].process.pid}`);
  const holder = rows().filter({hasText: "checkout"}).first();
  await holder.waitFor();
  assert.match(await holder.innerText(), whence);
  assert.match(await holder.innerText(), /127\.0\.0\.1:\d+/);
  const heldFor = () => holder.locator("td:nth-child(5) span").first().innerText();
  await within("more than three seconds", async () => /^([3-9]|\d\d) s$/.test(await heldFor()));
  const waiter = rows().filter({hasText: "report"}).first();
  assert.match(await waiter.innerText(), new RegExp(`@\\S+:${cluster.actors[1].process.pid}`));
  // Who opens the page later is told the same.
  await page.reload();
  await within("the same after a reload", async () => /^([3-9]|\d\d) s$/.test(await heldFor()));
});

test("names are searched, narrowed, and sorted", async () => {
  await go("/");
  await are("all", ["carts/42", "orders/17", "orders/42"]);
  await page.locator("#total", {hasText: "3 names"}).waitFor();
  await page.getByLabel("Names that contain").fill("/42");
  await are("those with /42", ["carts/42", "orders/42"]);
  await page.locator("#total", {hasText: "2 names"}).waitFor();
  await page.getByLabel("Only contended").check();
  await are("the contended one of them", ["carts/42"]);
  await page.getByLabel("Names that contain").fill("");
  await are("what is contended", ["carts/42", "orders/17"]);
  await page.getByLabel("Order by").selectOption("queue");
  await are("the longest queue first", ["orders/17", "carts/42"]);
  await page.getByLabel("Only contended").uncheck();
  await page.getByLabel("Order by").selectOption("age");
  await are("the oldest hold first", ["orders/42", "carts/42", "orders/17"]);
  await page.getByLabel("Order by").selectOption("name");
  await page.getByLabel("Names that contain").fill("nothing");
  await page.getByText("No name is like this.").waitFor();
  await page.getByLabel("Names that contain").fill("");
});

test("the sessions are listed, with where they come from and what they hold", async () => {
  await go("/sessions");
  await within("three", async () => (await rows().count()) === 3);
  const row = rows().filter({hasText: `:${cluster.actors[0].process.pid}`}).first();
  const cells = await row.locator("td").allInnerTexts();
  assert.match(cells[0], /^\S+@\S+:\d+\s+127\.0\.0\.1:\d+\s+checkout$/);
  assert.equal(cells[1], "node 2");
  assert.match(cells[3], / s$| min/);
  assert.equal(cells[5], "3");
});

test("the leader lacks nothing of the log", async () => {
  await go("/cluster");
  const leader = page.locator("tr.member", {hasText: "leader"}).first();
  await leader.waitFor();
  assert.equal((await leader.locator("td").allInnerTexts())[3], "none");
});

test("a page that does not exist says so", async () => {
  await go("/lokcs");
  await page.getByRole("heading", {name: "No such page"}).waitFor();
  assert.match(await page.locator("main").innerText(), /There is no page \/lokcs/);
  assert.match(await page.title(), /No such page/);
});
