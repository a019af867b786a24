/**
 * The fake server's page for people: choose who you are and where, type, react, resolve. One self-contained document; it polls the control API.
 */

/** Served at `/_page`. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fake Zulip</title>
<link rel="icon" href="data:,">
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 52rem; padding: 1rem; color-scheme: light dark; }
  form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; }
  label { display: grid; font-size: .8rem; }
  input, select, textarea, button { font: inherit; padding: .3rem .5rem; }
  textarea { width: 100%; box-sizing: border-box; }
  article { border-top: 1px solid #8886; padding: .5rem 0; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: 0; }
  small { opacity: .7; }
</style>
<h1>Fake Zulip</h1>
<form id="form">
  <label>I am <select id="user"></select></label>
  <label>Channel <select id="channel"></select></label>
  <label>Topic <input id="topic" value="hello" list="topics"></label>
  <datalist id="topics"></datalist>
  <button type="button" id="resolve">Resolve topic</button>
  <label style="flex-basis:100%">Message <textarea id="text" rows="3">@**Callboard** hello</textarea></label>
  <button>Send</button> <output id="error"></output>
</form>
<main id="messages" aria-live="polite"></main>
<script>
const $ = (id) => document.getElementById(id);
async function post(act, body) {
  const answer = await (await fetch("/_control/" + act, { method: "POST", body: JSON.stringify(body) })).json();
  $("error").textContent = answer.ok ? "" : answer.error;
  await refresh();
}
function options(select, items) {
  if (select.options.length === items.length) return;
  const chosen = select.value;
  select.replaceChildren(...items.map((text) => new Option(text)));
  if (items.includes(chosen)) select.value = chosen;
}
let last = "";
async function refresh() {
  const state = await (await fetch("/_control/state")).json();
  options($("user"), state.users.filter((u) => !u.isBot).map((u) => u.fullName));
  options($("channel"), state.channels.map((c) => c.name));
  const here = state.messages.filter((m) => m.display_recipient === $("channel").value);
  $("topics").replaceChildren(...[...new Set(here.map((m) => m.subject))].map((t) => new Option(t)));
  const topic = $("topic").value.toLowerCase();
  const shown = here.filter((m) => m.subject.toLowerCase() === topic || m.subject.toLowerCase() === "✔ " + topic);
  if (JSON.stringify(shown) === last) return;
  last = JSON.stringify(shown);
  $("messages").replaceChildren(...shown.map(article));
}
function article(m) {
  const element = document.createElement("article");
  const head = document.createElement("small");
  head.textContent = m.sender_full_name + " · #" + m.id + (m.last_edit_timestamp ? " · edited" : "") + " · " + m.subject + " ";
  const text = document.createElement("pre");
  text.textContent = m.content;
  element.append(head, text);
  for (const emoji of ["+1", "-1", "eyes", "octagonal_sign"]) {
    const count = m.reactions.filter((r) => r.emoji_name === emoji).length;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = emoji + (count ? " " + count : "");
    button.onclick = () => post("react", { user: $("user").value, id: m.id, emoji });
    element.append(button);
  }
  return element;
}
$("form").onsubmit = (event) => {
  event.preventDefault();
  const text = $("text").value;
  $("text").value = "";
  post("say", { user: $("user").value, channel: $("channel").value, topic: $("topic").value, text });
};
$("resolve").onclick = () => post("resolveTopic", { user: $("user").value, channel: $("channel").value, topic: $("topic").value });
refresh();
setInterval(refresh, 1000);
</script>
</html>
`;
