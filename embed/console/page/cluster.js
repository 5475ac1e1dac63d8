// The members, and how they are.
import {h, nothing, table} from "./dom.js";
import {duration, number, plural, shown} from "./server.js";

// What is known of a member: {is, text}. `is` is ok, warn or bad.
export function healthOf(member, node) {
  if (member.self) {
    if (node.stopped) return {is: "bad", text: `stopped: ${shown(node.why_stopped)}`};
    return node.ready ? {is: "ok", text: "ready"} : {is: "warn", text: shown(node.why_not_ready)};
  }
  const seen = member.seen;
  if (seen === null)
    return member.connected ? {is: "ok", text: "connected"} : {is: "bad", text: "not connected"};
  if (!seen.answers) return {is: "bad", text: `does not answer: ${shown(seen.problem)}`};
  if (!member.connected) return {is: "warn", text: "answers, but is not connected with this node"};
  const own = seen.status;
  return own.ready ? {is: "ok", text: "ready"} : {is: "warn", text: shown(own.why_not_ready)};
}

const statusOf = (member, node) => (member.self ? node : member.seen?.status);

function rowOf(member, node) {
  const health = healthOf(member, node);
  const own = statusOf(member, node);
  return {
    key: String(member.id),
    class: `member ${health.is}`,
    cells: [
      [h("strong", {}, `Node ${member.id}`), member.self ? " (this one)" : ""],
      [member.leads ? h("span", {class: "tag leads"}, "leader") : null, " ",
        member.role, member.leaving ? ", leaving" : ""],
      h("span", {class: "health", "data-is": health.is}, health.text),
      member.lag === null ? "unknown"
        : member.lag === 0 ? "none" : plural(member.lag, "entry", "entries"),
      own ? number(own.applied_index) : nothing,
      own ? shown(own.version) : nothing,
      own && (member.self || member.seen.answers) ? duration(own.uptime_ms) : nothing,
      h("span", {class: "mono"}, shown(member.address)),
    ],
  };
}

const fact = (name, value, isMono) =>
  h("div", {}, h("dt", {}, name), h("dd", {class: isMono ? "mono" : null}, value));

export function clusterView({node, members, names, sessions, console: own}) {
  const numbers = ["Lag", "Applied"];
  const columns = ["Member", "Role", "Health", "Lag", "Applied", "Version", "Up", "Address"]
    .map((label) => ({label, class: label === "Health" ? null
      : numbers.includes(label) ? "number fixed" : "fixed"}));
  return [
    h("h1", {}, `Cluster ${shown(node.cluster)}`),
    table(`${plural(members.length, "member")}; what the others say of themselves is at most some ` +
      "seconds old", columns, members.map((member) => rowOf(member, node))),
    h("h2", {}, "As this node sees it"),
    h("dl", {class: "facts"},
      fact("Leader", node.leader === null ? "unknown" : `node ${node.leader}`),
      fact("Term", number(node.term)),
      fact("Names in use", number(names)),
      fact("Sessions", number(sessions)),
      fact("Committed to entry", number(node.commit_index)),
      fact("Log begins at entry", number(node.first_index)),
      fact("Its session", node.session === null ? "none" : String(node.session)),
      fact("Durability", node.durability +
        (node.forgetful ? "; this node recovers from a loss of power" : "")),
      fact("Its part", `${node.role}, ${node.standing.replaceAll("_", " ")}`),
      fact("Breaking locks here", own.may_break ? "allowed" : "not allowed"),
      fact("Cluster id", node.cluster_id || "none yet", true)),
    node.insecure
      ? h("p", {class: "note bad"}, "This node listens without TLS on an address that other " +
        "machines reach: everybody who reaches it may do everything.")
      : null,
  ];
}

export function chip(member, node) {
  const health = healthOf(member, node);
  return h("li", {"data-key": String(member.id)},
    h("a", {class: "chip", "data-is": health.is, href: "#/cluster", title: health.text},
      h("span", {class: "dot", "aria-hidden": "true"}),
      `node ${member.id}`, member.leads ? h("span", {class: "crown"}, "leader") : null,
      h("span", {class: "hidden"}, `: ${health.text}`)));
}
