import { words } from "./words.js";

const phone = document.getElementById("phone");
const screen = document.getElementById("screen");
const back = document.getElementById("phone-back");
const close = document.getElementById("phone-close");
back.ariaLabel = words.backPhone;
close.ariaLabel = words.closePhone;

const isDark = matchMedia("(prefers-color-scheme: dark)");
const light = {
  bg_color: "#ffffff",
  secondary_bg_color: "#f1f1f4",
  text_color: "#101418",
  hint_color: "#6b7480",
  link_color: "#1f7a4d",
  button_color: "#1f7a4d",
  button_text_color: "#ffffff",
};
const dark = {
  bg_color: "#17201b",
  secondary_bg_color: "#0f1512",
  text_color: "#eef3ef",
  hint_color: "#93a39a",
  link_color: "#6fd3a0",
  button_color: "#2c9a63",
  button_text_color: "#ffffff",
};
const themeParams = () => (isDark.matches ? dark : light);

let needsConfirmation = false;
let frame;
let opener;

/** Opens the mini-app as Telegram's web client would: in a frame, with the user's signed launch data. */
export async function openPhone(launch) {
  opener = launch.opener;
  const { url } = await launch.post(`/chat/${launch.user}/launch`, {
    miniappUrl: launch.miniappUrl,
    themeParams: themeParams(),
  });
  needsConfirmation = false;
  back.hidden = true;
  frame = document.createElement("iframe");
  frame.title = words.frame;
  frame.allow = "autoplay; fullscreen";
  frame.src = url;
  screen.replaceChildren(frame);
  phone.showModal();
}

function closePhone() {
  // Taking the frame away is what swiping the mini-app away is on a phone: it hears pagehide and nothing else.
  frame?.remove();
  frame = undefined;
  phone.close();
  opener?.focus();
}

function askThenClose() {
  if (!needsConfirmation || confirm(words.leave)) closePhone();
}

close.addEventListener("click", askThenClose);
phone.addEventListener("cancel", (event) => {
  event.preventDefault();
  if (back.hidden) askThenClose();
  else tell("back_button_pressed");
});
back.addEventListener("click", () => tell("back_button_pressed"));
isDark.addEventListener("change", () => tell("theme_changed", { theme_params: themeParams() }));
document.addEventListener("visibilitychange", () =>
  tell("visibility_changed", { is_visible: document.visibilityState === "visible" }),
);

function tell(eventType, eventData) {
  if (!frame) return;
  frame.contentWindow?.postMessage(JSON.stringify({ eventType, eventData }), new URL(frame.src).origin);
}

const noInsets = { top: 0, bottom: 0, left: 0, right: 0 };
const answers = {
  web_app_close: closePhone,
  web_app_setup_closing_behavior: ({ need_confirmation }) => {
    needsConfirmation = need_confirmation === true;
  },
  web_app_setup_back_button: ({ is_visible }) => {
    back.hidden = is_visible !== true;
  },
  web_app_request_theme: () => tell("theme_changed", { theme_params: themeParams() }),
  web_app_request_viewport: () =>
    tell("viewport_changed", {
      height: screen.clientHeight,
      width: screen.clientWidth,
      is_expanded: true,
      is_state_stable: true,
    }),
  web_app_request_safe_area: () => tell("safe_area_changed", noInsets),
  web_app_request_content_safe_area: () => tell("content_safe_area_changed", noInsets),
  web_app_open_link: ({ url }) => {
    if (/^https?:/.test(url)) open(url, "_blank", "noopener,noreferrer");
  },
};

addEventListener("message", (event) => {
  if (!frame || event.source !== frame.contentWindow || event.origin !== new URL(frame.src).origin) return;
  try {
    const { eventType, eventData } = JSON.parse(event.data);
    if (Object.hasOwn(answers, eventType)) answers[eventType](eventData ?? {});
  } catch {
    // Not a message of the bridge.
  }
});
