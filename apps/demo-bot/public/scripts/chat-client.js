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
/** Whose chat was open last: a task's link opens in a window of its own, whose address does not say. */
export const taskUser = latestUser();

function latestUser() {
  const isChat = !location.pathname.startsWith("/join");
  try {
    if (isChat) localStorage.setItem("latestUser", user);
    return localStorage.getItem("latestUser") ?? user;
  } catch {
    return user;
  }
}

async function call(method, path, body = {}) {
  const response = await fetch(path, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response;
}

async function read(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.json();
}

const post = (path, body) => call("POST", `/chat/${user}/${path}`, body);
/** `crypto.randomUUID` is younger than some browsers. */
const newId = () => [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("-");

/** Resolves when the bot has answered. A message id is processed once. */
export async function sendMessage(text, id = newId()) {
  await post("messages", { id, text, language });
}

/** Tells the bot that a button with this data was tapped. */
export async function pressButton(data) {
  await post("presses", { id: newId(), data });
}

/** Requests to join the bot's private channel. */
export async function askToJoin() {
  await post("join", {});
}

/** The channel behind a task's invite link, and what the user does there. */
export const readChannel = (link) => read(`/task-channel/${taskUser}/${encodeURIComponent(link)}`);
export const actInChannel = (link, act) =>
  call("POST", `/task-channel/${taskUser}/${encodeURIComponent(link)}`, { act });

/** The bot's id and, for a bot of one's own (`npm start -- --bot`), its name; null for Coin Garden. */
export const readBot = () => read("/bot");

/** Returns the mini-app's URL with freshly signed launch data; a reply keyboard's button passes none. */
export async function signLaunch(launch) {
  const response = await post("launch", launch);
  const { url } = await response.json();
  return url;
}

/** Returns the game's address with freshly signed launch data. */
export async function launchGame(themeParams) {
  const response = await call("POST", `/game/${user}/launch`, { themeParams, language });
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

export const whatHappened = () => read(`/what-happened/${user}`);
export const timelineOf = (userId) => read(`/timeline/${userId}`);
/** A step that only this page can see. */
export const addStep = (step) => call("POST", `/timeline/${user}`, step);
export const setNetwork = (network) => call("PUT", `/phone/${user}/network`, { network });
export const reportHidden = (range) => call("POST", `/phone/${user}/hidden-report`, range);
/** What the demo's receiver does with webhooks, and the token with which it verifies them. */
export const readReceiver = () => read("/receiver");
export const setReceiverMode = (mode) => call("PUT", "/receiver", { mode });
export const sendAgain = (eventId) => call("POST", `/events/${eventId}/redeliver`);
export const testEndpoint = () => call("POST", "/endpoint/test");
