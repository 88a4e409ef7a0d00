import { addStep, signLaunch, user } from "./chat-client.js";
import { cheat, watchFirstFrame } from "./cheats.js";
import { onColours, themeParams } from "./colours.js";
import { byId, element } from "./element.js";
import { askToLeave } from "./leave-question.js";
import { platform, scenario } from "./menus.js";
import { connectBridge } from "./telegram-bridge.js";
import { words } from "./words.js";

const phone = byId("phone");
const screen = byId("screen");
const back = byId("phone-back");
const isBeside = matchMedia("(min-width: 1180px)");

/** The open mini-app: its frame and bridge, the element that opened it, and whether closing needs a confirmation. */
let open;

/** Opens the mini-app as Telegram's web client does: in a frame, with launch data signed at this tap. */
export async function openPhone({ miniappUrl, isReplyKeyboard, joinQueryId }, opener) {
  if (open) return screen.querySelector("iframe")?.focus();
  const opening = { opener, needsConfirmation: false };
  open = opening;
  back.hidden = true;
  screen.replaceChildren(element("p", { className: "opening", textContent: words.opening }));
  show();
  try {
    const isRehearsed = scenario !== "";
    const launch = { miniappUrl, themeParams: themeParams(), platform, isRehearsed, isReplyKeyboard, joinQueryId };
    const url = await signLaunch(launch);
    if (open === opening) load(throughThisPage(url));
  } catch (error) {
    if (open === opening) closePhone();
    throw error;
  }
}

/** The same launch of the same mini-app: through the phone's network, or with played answers. */
function throughThisPage(url) {
  const { pathname, search, hash } = new URL(url);
  const network = scenario === "" ? `/phone/${user}` : `/scenario/${scenario}`;
  return `${location.origin}${network}${pathname}${search}${hash}`;
}

function load(url) {
  const frame = element("iframe", {
    title: words.frame,
    allow: "autoplay; fullscreen",
    src: url,
  });
  frame.sandbox.add("allow-scripts", "allow-same-origin", "allow-forms", "allow-popups");
  frame.sandbox.add("allow-popups-to-escape-sandbox");
  frame.addEventListener(
    "load",
    () => {
      frame.focus();
      if (scenario === "") watchFirstFrame(frame, () => addStep({ kind: "first-frame" }).catch(() => {}));
    },
    { once: true },
  );
  open.bridge = connectBridge(frame, new URL(url).origin, answers);
  screen.append(frame);
}

function show() {
  phone.classList.toggle("modal", !isBeside.matches);
  if (isBeside.matches) phone.show();
  else phone.showModal();
}

function closePhone() {
  const closing = open;
  open = undefined;
  closing?.bridge?.disconnect();
  // Removing the frame equals swiping the mini-app away on a phone: it receives pagehide and nothing else.
  screen.replaceChildren();
  phone.close();
  closing?.opener?.focus();
}

async function leave() {
  const leaving = open;
  const isLeaving = !leaving?.needsConfirmation || (await askToLeave());
  if (open !== leaving) return;
  if (isLeaving) closePhone();
  else screen.querySelector("iframe")?.focus();
}

function tell(eventType, eventData) {
  open?.bridge?.tell(eventType, eventData);
}

function tellViewport() {
  const { clientHeight: height, clientWidth: width } = screen;
  tell("viewport_changed", { height, width, is_expanded: true, is_state_stable: true });
}

function openOutside(url) {
  if (/^https?:\/\//i.test(url)) window.open(url, "_blank", "noopener,noreferrer");
}

const noInsets = { top: 0, right: 0, bottom: 0, left: 0 };
const answers = {
  web_app_ready: () => screen.querySelector(".opening")?.remove(),
  web_app_close: closePhone,
  web_app_setup_closing_behavior({ need_confirmation }) {
    open.needsConfirmation = need_confirmation === true;
  },
  web_app_setup_back_button({ is_visible }) {
    back.hidden = is_visible !== true;
  },
  web_app_request_theme: () => tell("theme_changed", { theme_params: themeParams() }),
  web_app_request_viewport: tellViewport,
  web_app_request_safe_area: () => tell("safe_area_changed", noInsets),
  web_app_request_content_safe_area: () => tell("content_safe_area_changed", noInsets),
  web_app_open_link: ({ url }) => openOutside(url),
  web_app_open_tg_link: ({ path_full }) => openOutside(`https://t.me${path_full}`),
};

/** Browsers tell a page that its network is back. */
export function tellOnline() {
  screen.querySelector("iframe")?.contentWindow?.dispatchEvent(new Event("online"));
}

const cheats = byId("cheats");
const showCheats = byId("show-cheats");
showCheats.addEventListener("click", () => {
  cheats.hidden = !cheats.hidden;
  showCheats.setAttribute("aria-expanded", String(!cheats.hidden));
});
for (const key of cheats.children) {
  // With a mouse the mini-app keeps the focus.
  key.addEventListener("pointerdown", (event) => event.preventDefault());
  key.addEventListener("click", () =>
    cheat(key.dataset.cheat, screen.querySelector("iframe"), (is_visible) =>
      tell("visibility_changed", { is_visible }),
    ),
  );
}

byId("phone-close").addEventListener("click", leave);
back.addEventListener("click", () => tell("back_button_pressed"));
phone.addEventListener("cancel", (event) => {
  event.preventDefault();
  if (back.hidden) leave();
  else tell("back_button_pressed");
});
isBeside.addEventListener("change", () => {
  if (!phone.open) return;
  // A dialog can change between modal and panel only while it is closed; its frame keeps running.
  phone.close();
  show();
});
new ResizeObserver(tellViewport).observe(screen);
onColours(() => tell("theme_changed", { theme_params: themeParams() }));
document.addEventListener("visibilitychange", () =>
  tell("visibility_changed", { is_visible: document.visibilityState === "visible" }),
);
