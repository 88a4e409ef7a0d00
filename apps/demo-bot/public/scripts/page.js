import { botName, followConversation, pressButton, sendMessage } from "./chat-client.js";
import { startColours } from "./colours.js";
import { createConversation } from "./conversation.js";
import { byId } from "./element.js";
import { lookAtFacts, startFacts } from "./facts.js";
import { openPhone } from "./phone.js";
import { fillWords, language, words } from "./words.js";

fillWords();
startColours();

const notice = byId("notice");
const state = byId("bot-state");
let isConnected = false;
let waiting = 0;

function showState() {
  state.textContent = isConnected ? (waiting > 0 ? words.typing : words.subtitle) : words.connecting;
}

/** Resolves to whether the message was sent. */
async function say(text, id) {
  let isLate = false;
  // Most answers arrive immediately; showing "typing" only after a delay avoids a flash.
  const late = setTimeout(() => {
    isLate = true;
    waiting++;
    showState();
  }, 250);
  try {
    await sendMessage(text, id);
    notice.textContent = "";
    return true;
  } catch {
    notice.textContent = words.notSent;
    return false;
  } finally {
    clearTimeout(late);
    if (isLate) waiting--;
    showState();
  }
}

function openAd(ad, opener) {
  const explanation = byId("reply-keyboard");
  explanation.hidden = ad.isReplyKeyboard !== true;
  notice.textContent = ad.isReplyKeyboard ? words.replyKeyboard : "";
  openPhone(ad, opener).catch(() => {
    notice.textContent = words.notSent;
  });
}

function press(data) {
  pressButton(data).catch(() => {
    notice.textContent = words.notSent;
  });
}

/** A bot of one's own has its own name and texts. */
async function showBot() {
  const name = await botName();
  if (name === null) return;
  document.title = `${name} · Intermission`;
  for (const shown of [byId("bot-name"), byId("phone-title")]) shown.textContent = name;
  byId("facts-hint").textContent = words.ownHint;
}
showBot().catch(() => {});

const conversation = createConversation({ say, openAd, press });
followConversation({
  onConnection(isOpen) {
    isConnected = isOpen;
    showState();
  },
  onHistory(messages) {
    for (const message of messages) conversation.show(message);
    // An empty history means a new user. Two windows send /start once, because the message id is the same.
    if (conversation.isEmpty()) say("/start", "start");
  },
  onMessage(message) {
    conversation.show(message);
    lookAtFacts();
  },
});

const text = byId("text");
byId("compose").addEventListener("submit", async (event) => {
  event.preventDefault();
  const written = text.value.trim();
  if (written === "") return;
  text.value = "";
  if (!(await say(written)) && text.value === "") text.value = written;
});

const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
function showTime() {
  for (const shown of document.querySelectorAll(".clock")) shown.textContent = clock.format(new Date());
}
showTime();
setInterval(showTime, 10_000);
startFacts();
