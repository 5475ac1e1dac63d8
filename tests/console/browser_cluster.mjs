// Three nodes as three processes: the first is `mortise node` with a console, the others are
// programs that hold locks (actor.cpp).
import {spawn} from "node:child_process";
import {writeFileSync} from "node:fs";
import {createServer} from "node:net";
import {createInterface} from "node:readline";

const {TEST_MORTISE, TEST_ACTOR, TEST_DIRECTORY} = process.env;

function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const {port} = server.address();
      server.close(() => resolve(port));
    });
  });
}

class Process {
  constructor(program, words) {
    this.process = spawn(program, words, {stdio: ["pipe", "pipe", "pipe"]});
    this.lines = [];
    this.waiting = [];
    for (const stream of [this.process.stdout, this.process.stderr])
      createInterface({input: stream}).on("line", (line) => this.take(line));
    this.ended = new Promise((resolve) => this.process.on("exit", resolve));
  }
  take(line) {
    this.lines.push(line);
    this.waiting = this.waiting.filter(({pattern, resolve}) => {
      const found = line.match(pattern);
      if (found) resolve(found);
      return !found;
    });
  }
  // The first line that fits, also one that was said before.
  expect(pattern, ms = 30000) {
    const said = this.lines.map((line) => line.match(pattern)).find(Boolean);
    if (said) return Promise.resolve(said);
    return new Promise((resolve, reject) => {
      this.waiting.push({pattern, resolve});
      setTimeout(() => reject(new Error(`waited in vain for ${pattern}: ${this.lines.join("; ")}`)),
        ms).unref();
    });
  }
  tell(line) {
    this.process.stdin.write(`${line}\n`);
  }
  kill() {
    this.process.kill("SIGKILL");
    return this.ended;
  }
}

function configOf(id, ports) {
  const peers = ports.map((port, at) =>
    `[[peer]]\nid = ${at + 1}\naddress = "127.0.0.1:${port}"\n`).join("");
  const path = `${TEST_DIRECTORY}/node-${id}.toml`;
  writeFileSync(path, `cluster = "orders"\nnode_id = ${id}\n` +
    `data_dir = "${TEST_DIRECTORY}/node-${id}"\nlisten = "127.0.0.1:${ports[id - 1]}"\n${peers}` +
    '[timing]\nsession_ttl = "6s"\nelection_timeout = "500ms"\nheartbeat = "50ms"\n');
  return path;
}

export async function startCluster() {
  const ports = [await freePort(), await freePort(), await freePort()];
  const configs = [1, 2, 3].map((id) => configOf(id, ports));
  const node = new Process(TEST_MORTISE,
    ["node", "--config", configs[0], "--console", "127.0.0.1:0"]);
  const actors = [2, 3].map((id) => new Process(TEST_ACTOR, [configs[id - 1]]));
  const [, url] = await node.expect(/console at (http:.*)/);
  await Promise.all(actors.map((actor) => actor.expect(/^ready/)));
  return {
    url, node, actors,
    client: (name, label) => new Process(TEST_MORTISE, ["run", "--lock", name, "--label", label,
      "--config", configs[0], "--", "sleep", "60"]),
    restart: (at) => (actors[at] = new Process(TEST_ACTOR, [configs[at + 1]])),
    end: () => Promise.all([node, ...actors].map((each) => each.kill())),
  };
}
