// Holds a lock with Node.js alone: node hold.mjs URL NAME

// Calls work(lock) while the lock is held. `lock.signal` is aborted when it is lost, also if nothing
// was heard of it for as long as it is valid. For work of more than an hour ask for the validity, as
// hold.sh does.
export async function withLock(url, name, work) {
  const lost = new AbortController();
  const close = new AbortController();
  const sent = performance.now(); // all times count from here
  const answer = await fetch(`${url}/v1/hold/${name}?label=hold.mjs`, {
    signal: close.signal,
    headers: { "Mortise-Http": "1" },
  });
  if (!answer.ok) throw new Error(`not acquired: ${await answer.text()}`);
  const lock = {
    until: 0,
    signal: lost.signal,
    get valid() {
      return performance.now() < this.until;
    },
  };
  let timer;
  const heard = (line) => {
    lock.until = sent + line.valid_ms;
    clearTimeout(timer);
    timer = setTimeout(() => lost.abort(), lock.until - performance.now());
  };
  const granted = {};
  granted.promise = new Promise((...ways) => ([granted.resolve, granted.reject] = ways));
  (async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of answer.body) {
      text += decoder.decode(bytes, { stream: true });
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
        const line = JSON.parse(text.slice(0, end));
        text = text.slice(end + 1);
        if (line.event === "lost") return;
        heard(line);
        if (line.event === "granted") granted.resolve(line);
      }
    }
  })()
    .catch(() => {})
    .finally(() => {
      // Lost, or closed: whatever ended the lines.
      clearTimeout(timer);
      lock.until = 0;
      granted.reject(new Error("the connection broke"));
      lost.abort();
    });
  lock.token = (await granted.promise).token;
  try {
    return await work(lock);
  } finally {
    close.abort(); // it releases the lock
  }
}

const [url, name] = process.argv.slice(2);
await withLock(url, name, async (lock) => {
  console.log("token", lock.token);
  if (lock.valid) console.log("work, with the token");
});
console.log("released");
