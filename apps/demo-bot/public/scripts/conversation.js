import { byId, element, icon } from "./element.js";
import { partsOf } from "./message-parts.js";
import { language, words } from "./words.js";

const messages = byId("messages");
const suggestions = byId("suggestions");
const input = byId("text");
const shown = new Set();
/** The buttons of each offer, by its code. */
const offers = new Map();
let isSaying = false;
const clock = new Intl.DateTimeFormat(language, { timeStyle: "short" });
const pictureSizes = { garden: [320, 150], coins: [56, 56], seeds: [56, 56] };

/** Draws messages. `say` sends a command for the user, `openAd` opens the phone, `press` sends a button's data. */
export function createConversation({ say, openAd, press }) {
  const suggest = createSuggestions({ say, openAd });

  function show(message) {
    if (shown.has(message.id)) return;
    shown.add(message.id);
    const item = element("div", { className: `message ${message.from}` }, bubble(message));
    if (message.ad) item.append(keyboard(message.ad));
    if (message.buttons) item.append(element("div", { className: "keyboard" }, ...message.buttons.map(ownButton)));
    messages.append(item);
    // A message without quick replies, such as an offer, leaves the earlier ones in place.
    if (message.suggestions) suggest(message);
    if (message.used) markUsed(message.used);
    messages.scrollTop = messages.scrollHeight;
  }

  function bubble({ from, text, picture, at }) {
    const made = element("div", { className: "bubble" });
    if (picture) {
      const [width, height] = pictureSizes[picture];
      made.classList.add(`with-${picture}`);
      made.append(element("img", { src: `/pictures/${picture}.svg`, alt: "", width, height }));
    }
    if (from === "user") made.append(element("span", { className: "visually-hidden", textContent: `${words.you}: ` }));
    const time = element("time", { dateTime: at, textContent: clock.format(new Date(at)) });
    if (from === "user") time.append(icon("check"));
    made.append(element("p", {}, ...partsOf(text).map((part) => tappable(part, from))), time);
    return made;
  }

  /** Commands of the bot and addresses can be tapped, as in Telegram. */
  function tappable({ kind, text }, from) {
    if (kind === "link") return outsideLink(text, "address");
    return kind === "command" && from === "bot" ? button(text, "command", () => say(text)) : text;
  }

  function keyboard(ad) {
    const watch = button(ad.label, "key filled", () => openAd(ad, watch));
    watch.prepend(icon("play"));
    const link = pageLink(ad.linkLabel, ad.directLink);
    offers.set(new URL(ad.miniappUrl).searchParams.get("code"), { rewarded: watch, direct_link: link });
    return element("div", { className: "keyboard" }, watch, link);
  }

  /** A button of a bot of one's own. */
  function ownButton({ label, miniappUrl, url, data }) {
    if (url !== undefined) return pageLink(label, url);
    if (data !== undefined) return button(label, "key", () => press(data));
    const watch = button(label, "key filled", () => openAd({ miniappUrl }, watch));
    watch.prepend(icon("play"));
    return watch;
  }

  /**
   * A used button stays, in grey: it opens the state of the reward, or the page again. The link of a watched ad pays nothing any
   * more; the ad of a followed link does, as a new code.
   */
  function markUsed({ code, event }) {
    const offer = offers.get(code);
    const used = offer?.[event];
    if (event === "rewarded") offer?.direct_link.classList.add("spent");
    if (!used || used.classList.contains("used")) return;
    used.classList.add("used");
    used.replaceChildren(icon("check"), words.used[event]);
  }

  return { show, isEmpty: () => shown.size === 0 };
}

/** Returns the function that shows a message's quick replies. */
function createSuggestions({ say, openAd }) {
  /** Replaces the quick replies only if they change, so that a focused one keeps the focus. */
  function suggest({ suggestions: offered, isOneTime = false, placeholder }) {
    const commands = offered.map(({ command, miniappUrl, row }) => `${row} ${command ?? miniappUrl}`).join("\n");
    input.placeholder = placeholder ?? words.placeholder;
    if (suggestions.dataset.commands === commands) return;
    const isFocused = suggestions.contains(document.activeElement);
    suggestions.dataset.commands = commands;
    suggestions.classList.toggle(
      "rows",
      offered.some(({ row }) => row !== undefined),
    );
    const keys = offered.map((key) => suggestion(key, isOneTime));
    suggestions.replaceChildren(...inRows(keys, offered));
    if (isFocused) (suggestions.querySelector("button") ?? input).focus();
  }

  /**
   * A key of the keyboard. The second click of a double tap does nothing, however soon the first one was answered: browsers
   * count the clicks of a double tap in `detail`.
   */
  function suggestion({ label, command, miniappUrl }, isOneTime) {
    const act = ({ detail }) => {
      if (detail > 1) return;
      if (isOneTime) suggest({ suggestions: [] });
      if (miniappUrl) openAd({ miniappUrl, isReplyKeyboard: true }, made);
      else sayOnce(command);
    };
    const made = button(label, "suggestion", act);
    return made;
  }

  /** Keeps a command from being sent again before it has arrived, by taps on several keys or a key that is held down. */
  async function sayOnce(command) {
    if (isSaying) return;
    isSaying = true;
    try {
      await say(command);
    } finally {
      isSaying = false;
    }
  }

  return suggest;
}

/** The keys of a keyboard in its rows; without rows they flow. */
function inRows(keys, offered) {
  const rows = new Map();
  for (const [at, { row }] of offered.entries()) {
    if (row === undefined) return keys;
    rows.set(row, [...(rows.get(row) ?? []), keys[at]]);
  }
  return [...rows.values()].map((row) => element("div", { className: "row" }, ...row));
}

function outsideLink(href, className) {
  return element("a", { className, href, target: "_blank", rel: "noopener noreferrer", textContent: href });
}

function pageLink(label, href) {
  const link = outsideLink(href, "key");
  link.replaceChildren(label, icon("link"));
  return link;
}

function button(label, className, onClick) {
  const made = element("button", { type: "button", className }, label);
  made.addEventListener("click", onClick);
  return made;
}
