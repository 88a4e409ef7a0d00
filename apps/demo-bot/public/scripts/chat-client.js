import { language } from "./words.js";

/** This browser's user. `?user=` names one, so that two windows can be two users, or two devices of the same. */
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
    // Without storage each visit is another user's.
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

/** Resolves when the bot has answered. A message of the same id is heard once. */
export async function sendMessage(text, id = crypto.randomUUID()) {
  await post("messages", { id, text, language });
}

/** The mini-app's address with launch data that were signed just now. */
export async function signLaunch(miniappUrl, themeParams) {
  const response = await post("launch", { miniappUrl, themeParams });
  const { url } = await response.json();
  return url;
}

/** Follows the conversation for as long as the page lives. Each connection begins with the whole history. */
export function followConversation({ onHistory, onMessage, onConnection }) {
  const stream = new EventSource(`/chat/${user}/events?${new URLSearchParams({ language })}`);
  stream.addEventListener("open", () => onConnection(true));
  stream.addEventListener("history", ({ data }) => onHistory(JSON.parse(data)));
  stream.addEventListener("message", ({ data }) => onMessage(JSON.parse(data)));
  stream.addEventListener("error", () => {
    onConnection(false);
    if (stream.readyState !== EventSource.CLOSED) return;
    // A browser gives up for good when it was answered with an error; the server may only be restarting.
    setTimeout(() => followConversation({ onHistory, onMessage, onConnection }), 2000);
  });
}

export async function whatHappened() {
  const response = await fetch(`/what-happened/${user}`);
  return response.json();
}
