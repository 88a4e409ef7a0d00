import { byId, element, icon } from "./element.js";
import { language, words } from "./words.js";

const messages = byId("messages");
const suggestions = byId("suggestions");
const shown = new Set();
const clock = new Intl.DateTimeFormat(language, { timeStyle: "short" });
const pictureSizes = { garden: [320, 150], coins: [56, 56], seeds: [56, 56] };

/** Draws messages. `say` sends a command for the user, `openAd` opens the phone. */
export function createConversation({ say, openAd }) {
  function show(message) {
    if (shown.has(message.id)) return;
    shown.add(message.id);
    const item = element("div", { className: `message ${message.from}` }, bubble(message));
    if (message.ad) item.append(keyboard(message.ad));
    messages.append(item);
    suggest(message.suggestions ?? []);
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
    made.append(element("p", {}, ...(from === "bot" ? withCommands(text) : [text])), time);
    return made;
  }

  /** Makes the commands in a message tappable, as in Telegram. */
  function withCommands(text) {
    return text
      .split(/(\/(?:start|bonus|balance|buy)\b)/)
      .map((part) => (part.startsWith("/") ? button(part, "command", () => say(part)) : part));
  }

  function keyboard(ad) {
    const watch = button(ad.label, "key filled", () => openAd(ad, watch));
    watch.prepend(icon("play"));
    const link = element("a", { className: "key", href: ad.directLink, target: "_blank", rel: "noopener noreferrer" });
    link.append(ad.linkLabel, icon("link"));
    return element("div", { className: "keyboard" }, watch, link);
  }

  function suggest(offered) {
    suggestions.replaceChildren(
      ...offered.map(({ label, command }) =>
        button(label, "suggestion", ({ detail }) => {
          // Removing the suggestions makes a double tap send the command once.
          suggest([]);
          // The focused button disappears: keyboard users continue in the text field. On a phone this would open the keyboard.
          if (detail === 0) byId("text").focus();
          say(command);
        }),
      ),
    );
  }

  return { show, isEmpty: () => shown.size === 0 };
}

function button(label, className, onClick) {
  const made = element("button", { type: "button", className }, label);
  made.addEventListener("click", onClick);
  return made;
}
