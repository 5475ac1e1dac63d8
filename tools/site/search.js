// The search: all words of the query have to be in a section. The index is a script beside this one,
// so that it works without a server; it is loaded with the first query. "?q=WORDS" is a query too.
"use strict";

(() => {
  const top = document.currentScript.dataset.top;
  const query = document.getElementById("query");
  const results = document.getElementById("results");
  const shownMax = 20;
  const excerptLength = 180;
  let loading = null;
  let chosen = -1;

  function load() {
    loading ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${top}/search-index.js`;
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    });
    return loading;
  }

  const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter((word) => word !== "");

  // Higher is better; 0 if a word is nowhere.
  function score([title, section, , text], words) {
    let sum = 0;
    for (const word of words) {
      const places = [[section, 8], [title, 6], [text, 1]];
      let best = 0;
      for (const [place, weight] of places) {
        const lower = place.toLowerCase();
        if (!lower.includes(word)) continue;
        const isWhole = new RegExp(`(^|\\W)${word.replace(/\W/g, "\\$&")}(\\W|$)`).test(lower);
        best = Math.max(best, weight * (lower === word ? 3 : isWhole ? 2 : 1));
      }
      if (best === 0) return 0;
      sum += best;
    }
    return sum;
  }

  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const first = Math.max(0, Math.min(...words.map((word) => {
      const at = lower.indexOf(word);
      return at < 0 ? text.length : at;
    })));
    const begin = first === text.length ? 0 : Math.max(0, first - 50);
    const shown = text.slice(begin, begin + excerptLength);
    const isCut = begin + excerptLength < text.length;
    return (begin > 0 ? "..." : "") + (isCut ? shown.replace(/\s\S*$/, " ...") : shown);
  }

  // Text with the words marked, as nodes: nothing of the index is read as HTML.
  function marked(text, words) {
    const pattern = words.map((word) => word.replace(/\W/g, "\\$&")).join("|");
    return text.split(new RegExp(`(${pattern})`, "i")).map((part) => {
      if (!words.includes(part.toLowerCase())) return part;
      const mark = document.createElement("mark");
      mark.textContent = part;
      return mark;
    });
  }

  function entry([title, section, address, text], words) {
    const link = document.createElement("a");
    link.href = `${top}/${address}`;
    link.append(...marked(section ? `${title}: ${section}` : title, words));
    const small = document.createElement("small");
    small.append(...marked(excerpt(text, words), words));
    link.append(small);
    return link;
  }

  function show(words) {
    const found = searchIndex.map((each) => [score(each, words), each])
      .filter(([points]) => points > 0)
      .sort((one, other) => other[0] - one[0])
      .slice(0, shownMax);
    results.replaceChildren(...found.map(([, each]) => entry(each, words)));
    if (found.length === 0) {
      const nothing = document.createElement("p");
      nothing.textContent = "No section has all these words.";
      results.append(nothing);
    }
    results.hidden = false;
    chosen = -1;
  }

  async function search() {
    const words = wordsOf(query.value);
    results.hidden = true;
    if (words.length === 0) return;
    await load();
    if (words.join(" ") === wordsOf(query.value).join(" ")) show(words);
  }

  function choose(step) {
    const links = results.querySelectorAll("a");
    if (results.hidden || links.length === 0) return;
    links[chosen]?.classList.remove("chosen");
    chosen = (chosen + step + links.length) % links.length;
    links[chosen].classList.add("chosen");
    links[chosen].scrollIntoView({block: "nearest"});
  }

  query.addEventListener("input", search);
  query.addEventListener("focus", load);
  query.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose(event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
    } else if (event.key === "Escape") {
      results.hidden = true;
    }
  });
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    results.querySelectorAll("a")[Math.max(chosen, 0)]?.click();
  });
  results.addEventListener("click", () => { results.hidden = true; });
  document.addEventListener("click", (event) => {
    if (!results.contains(event.target) && event.target !== query) results.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !isTyping) {
      query.focus();
      event.preventDefault();
    }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    query.value = asked;
    search();
  }
})();
