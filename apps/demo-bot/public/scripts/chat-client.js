import { language } from "./words.js";

/** This browser's user id. `?user=` overrides it: two windows can act as two users, or as two devices of one user. */
function userOfPage() {
  const named = new URLSearchParams(location.search).get("user");
  if (named !== null && /^[1-9][0-9]{0,14}$/.test(named)) return named;
  const [random] = crypto.getRandomValues(new Uint32Array(1));
  const fresh = String(1_000_000_000 + random);
  try {
    const kept = localStorage.getItem("user");
    if (kept !== null) return kept;
    localStorage.setItem("user", fresh);
  } catch {
    // Without storage each visit gets a new user id.
  }
  return fresh;
}

export const user = userOfPage();

async function post(path, body) {
  const response = await fetch(`/chat/${user}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response;
}

/** Resolves when the bot has answered. A message id is processed once. */
export async function sendMessage(text, id = crypto.randomUUID()) {
  await post("messages", { id, text, language });
}

/** Tells the bot that a button with this data was tapped. */
export async function pressButton(data) {
  await post("presses", { id: crypto.randomUUID(), data });
}

/** The name of a bot of one's own (`npm start -- --bot`); null for Coin Garden. */
export async function botName() {
  const response = await fetch("/bot-name");
  return (await response.json()).name;
}

/** Returns the mini-app's URL with freshly signed launch data; a reply keyboard's button passes none. */
export async function signLaunch(miniappUrl, { themeParams, isReplyKeyboard }) {
  const response = await post("launch", { miniappUrl, themeParams, isReplyKeyboard });
  const { url } = await response.json();
  return url;
}

/** Follows the conversation until the page closes. Each connection starts with the whole history. */
export function followConversation({ onHistory, onMessage, onConnection }) {
  const stream = new EventSource(`/chat/${user}/events?${new URLSearchParams({ language })}`);
  stream.addEventListener("open", () => onConnection(true));
  stream.addEventListener("history", ({ data }) => onHistory(JSON.parse(data)));
  stream.addEventListener("message", ({ data }) => onMessage(JSON.parse(data)));
  stream.addEventListener("error", () => {
    onConnection(false);
    if (stream.readyState !== EventSource.CLOSED) return;
    // An EventSource stops reconnecting after an error response, but the server may only be restarting.
    setTimeout(() => followConversation({ onHistory, onMessage, onConnection }), 2000);
  });
}

export async function whatHappened() {
  const response = await fetch(`/what-happened/${user}`);
  return response.json();
}
