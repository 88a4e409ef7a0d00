import { launchGame } from "./chat-client.js";
import { themeParams } from "./colours.js";
import { byId, element } from "./element.js";
import { startTimeline } from "./timeline.js";
import { fillWords, language, words } from "./words.js";

fillWords();
byId("to-chat").search = location.search;
startTimeline();

/** Opens the game as Telegram's web client does: in a frame, with launch data that is signed now. */
async function openGame() {
  const { pathname, hash } = new URL(await launchGame(themeParams()), location.href);
  const src = `${pathname}?${new URLSearchParams({ lang: language })}${hash}`;
  byId("field").replaceChildren(element("iframe", { title: words.gameTitle, allow: "autoplay; fullscreen", src }));
}

openGame().catch(() => {
  byId("field").replaceChildren(element("p", { className: "hint warning", textContent: words.notSent }));
});
