import { copyKey } from "./attempts.js";
import {
  askToJoin,
  followConversation,
  pressButton,
  readBot,
  readReceiver,
  sendMessage,
  setReceiverMode,
} from "./chat-client.js";
import { startColours } from "./colours.js";
import { createConversation } from "./conversation.js";
import { byId, element } from "./element.js";
import { lookAtFacts, startFacts } from "./facts.js";
import { startMenus } from "./menus.js";
import { startTabs } from "./panel-tabs.js";
import { openPhone, tellOnline } from "./phone.js";
import { lookAtTimeline, startTimeline } from "./timeline.js";
import { startVerifier } from "./verifier.js";
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

/** A bot of one's own has its own name and texts. Its webhooks go to its own program, so the demo receives none. */
async function startPanel() {
  const { name, channel, receiver } = await readDemo();
  if (channel) offerChannel(channel);
  if (receiver) {
    startReceiver(receiver.mode);
    startVerifier(receiver.token);
    startFacts(receiver);
    byId("next").hidden = false;
    byId("open-game").hidden = false;
    byId("open-game").search = location.search;
    byId("next-command").after(copyKey(words.command, () => byId("next-command").textContent));
    return;
  }
  document.title = `${name} · Intermission`;
  for (const shown of [byId("bot-name"), byId("phone-title")]) shown.textContent = name;
  byId("facts-hint").textContent = words.ownHint;
  startFacts(undefined);
}

/** Asks until it is answered: the server may be restarting. */
async function readDemo() {
  try {
    const { name, channel } = await readBot();
    return { name, channel, receiver: name === null ? await readReceiver() : undefined };
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return readDemo();
  }
}

const join = byId("join-channel");

/** The private channel of the bot: a tap requests to join it, as its invite link does in Telegram. */
function offerChannel(title) {
  byId("channel-title").textContent = title;
  join.hidden = false;
  join.addEventListener("click", async () => {
    join.disabled = true;
    try {
      await askToJoin();
      notice.textContent = "";
    } catch {
      notice.textContent = words.notSent;
    } finally {
      join.disabled = false;
    }
  });
}

/** The switch of the demo's receiver. */
function startReceiver(mode) {
  const menu = byId("receiver-mode");
  const options = Object.entries(words.receiverModes);
  menu.replaceChildren(...options.map(([value, textContent]) => element("option", { value, textContent })));
  menu.value = mode;
  menu.addEventListener("change", () => setReceiverMode(menu.value).then(lookAtFacts, () => {}));
  byId("receiver").hidden = false;
}

startTabs((name) => (name === "timeline" ? lookAtTimeline() : lookAtFacts()));
startMenus({ onOnline: tellOnline });
startTimeline();
startPanel();

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
    if (message.opens) openAd(message.opens, join);
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
