import { startFacts } from "./facts.js";
import { openPhone } from "./phone.js";
import { language, userId, words } from "./words.js";

const user = userId();
const byId = (id) => document.getElementById(id);
const messages = byId("messages");
const text = byId("text");

document.documentElement.lang = words.send === "Send" ? "en" : "ru";
byId("subtitle").textContent = words.subtitle;
byId("text-label").textContent = words.placeholder;
text.placeholder = words.placeholder;
byId("send").textContent = words.send;
byId("show-facts").textContent = words.facts;

async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.status === 204 ? undefined : response.json();
}

function send(words) {
  return post(`/chat/${user}/messages`, { text: words, messageId: crypto.randomUUID(), language });
}

function element(name, className, content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (content !== undefined) made.textContent = content;
  return made;
}

function button(label, className, onClick) {
  const made = element("button", className, label);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
}

const shown = new Set();

function show(message) {
  // The stream begins with the history each time it connects.
  if (shown.has(message.id)) return;
  shown.add(message.id);
  const item = element("div", `message ${message.from}`);
  const bubble = element("div", "bubble");
  if (message.from === "user") bubble.append(element("span", "visually-hidden", `${words.you}: `));
  bubble.append(element("p", "", message.text));
  const at = new Date(message.at);
  const time = element("time", "", at.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" }));
  time.dateTime = message.at;
  bubble.append(time);
  item.append(bubble);
  if (message.ad) item.append(keyboard(message.ad));
  messages.append(item);
  showSuggestions(message);
  messages.scrollTop = messages.scrollHeight;
}

function keyboard(ad) {
  const keys = element("div", "keyboard");
  keys.append(
    button(ad.label, "key primary", (event) =>
      openPhone({ user, miniappUrl: ad.miniappUrl, post, opener: event.currentTarget }),
    ),
  );
  const link = element("a", "key", ad.linkLabel);
  link.href = ad.directLink;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  keys.append(link);
  return keys;
}

function showSuggestions(message) {
  document.querySelector(".suggestions")?.remove();
  if (!message.suggestions?.length) return;
  const row = element("div", "suggestions");
  for (const command of message.suggestions) row.append(button(command, "suggestion", () => send(command)));
  messages.append(row);
}

byId("compose").addEventListener("submit", (event) => {
  event.preventDefault();
  const written = text.value.trim();
  if (written === "") return;
  text.value = "";
  send(written).catch(() => {
    text.value = written;
  });
});

byId("show-facts").addEventListener("click", (event) => {
  const isShown = document.body.classList.toggle("with-facts");
  event.currentTarget.setAttribute("aria-expanded", String(isShown));
});

let isGreeted = false;
const stream = new EventSource(`/chat/${user}/events`);
stream.addEventListener("message", ({ data }) => show(JSON.parse(data)));
stream.addEventListener("open", () => {
  if (isGreeted) return;
  isGreeted = true;
  // The history comes first; who has none has just met the bot.
  setTimeout(() => shown.size === 0 && send("/start"), 300);
});
startFacts(user);
