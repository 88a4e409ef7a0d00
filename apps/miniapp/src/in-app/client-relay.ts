import type { ShownLaunch } from "./messages.ts";

/**
 * What the frame may have Telegram's client do, in the page's name, and the form of its parameters. The window, the launch and
 * everything else that is the publisher's own stays so.
 */
const isFlag = (value: unknown) => typeof value === "boolean";
const isColour = (value: unknown) => typeof value === "string" && /^#[\da-f]{6}$/i.test(value);
const allowed: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  web_app_open_link: { url: (value) => typeof value === "string" && /^https?:\/\//.test(value) },
  web_app_open_tg_link: { path_full: (value) => typeof value === "string" && value.startsWith("/") },
  web_app_trigger_haptic_feedback: {
    type: (value) => value === "notification",
    notification_type: (value) => ["success", "warning", "error"].includes(String(value)),
  },
  web_app_setup_back_button: { is_visible: isFlag },
  web_app_setup_closing_behavior: { need_confirmation: isFlag },
  web_app_setup_swipe_behavior: { allow_vertical_swipe: isFlag },
  web_app_set_header_color: { color: isColour, color_key: (value) => value === "bg_color" },
  web_app_set_background_color: { color: isColour },
  web_app_set_bottom_bar_color: { color: isColour },
  web_app_request_fullscreen: {},
  web_app_exit_fullscreen: {},
  web_app_request_safe_area: {},
  web_app_request_content_safe_area: {},
};
const events = [
  "back_button_pressed",
  "visibility_changed",
  "theme_changed",
  "safe_area_changed",
  "content_safe_area_changed",
];

type Receive = (name: string, data: unknown) => void;

/** What telegram-web-app.js, where the page has it, knows of the page's own settings. */
interface WebApp {
  readonly initData?: string;
  readonly BackButton?: { readonly isVisible: boolean };
  readonly isClosingConfirmationEnabled?: boolean;
  readonly isVerticalSwipesEnabled?: boolean;
  readonly isFullscreen?: boolean;
  readonly headerColor?: string;
  readonly backgroundColor?: string;
  readonly bottomBarColor?: string;
}

interface TelegramOfPage {
  WebApp?: WebApp;
  WebView?: {
    onEvent?(name: string, listener: Receive): void;
    offEvent?(name: string, listener: Receive): void;
    receiveEvent?: Receive;
  };
}

const page = window as unknown as {
  Telegram?: TelegramOfPage;
  TelegramWebviewProxy?: { postEvent(method: string, parameters: string): void };
};

export const webApp = (): WebApp | undefined => page.Telegram?.WebApp;

export function clientOfPage(): ShownLaunch["client"] {
  if (page.TelegramWebviewProxy) return "native";
  return window.parent === window ? "none" : "web";
}

function post(method: string, parameters: object = {}): void {
  if (page.TelegramWebviewProxy) page.TelegramWebviewProxy.postEvent(method, JSON.stringify(parameters));
  else if (window.parent !== window)
    window.parent.postMessage(JSON.stringify({ eventType: method, eventData: parameters }), "https://web.telegram.org");
}

/** Calls a method for the frame, if it is one of the list with parameters of its form. */
export function relayCall(method: unknown, parameters: unknown): void {
  if (typeof method !== "string" || !Object.hasOwn(allowed, method)) return;
  const forms = allowed[method] ?? {};
  const passed = Object.entries(parameters ?? {});
  if (passed.every(([name, value]) => forms[name]?.(value))) post(method, Object.fromEntries(passed));
}

/** Passes the client's events on until the returned function is called, which gives the page its own settings back. */
export function relayEvents(receive: Receive, theme: Readonly<Record<string, string>>): () => void {
  const wasFullscreen = webApp()?.isFullscreen ?? false;
  const stop = listen((name, data) => events.includes(name) && receive(name, data));
  return () => {
    stop();
    const own = webApp();
    const colour = (value: string | undefined) => value ?? theme.bg_color ?? "#ffffff";
    post("web_app_setup_back_button", { is_visible: own?.BackButton?.isVisible ?? false });
    post("web_app_setup_closing_behavior", { need_confirmation: own?.isClosingConfirmationEnabled ?? false });
    post("web_app_setup_swipe_behavior", { allow_vertical_swipe: own?.isVerticalSwipesEnabled ?? true });
    post("web_app_set_header_color", own?.headerColor ? { color: own.headerColor } : { color_key: "bg_color" });
    post("web_app_set_background_color", { color: colour(own?.backgroundColor) });
    post("web_app_set_bottom_bar_color", { color: colour(own?.bottomBarColor) });
    if (!wasFullscreen) post("web_app_exit_fullscreen");
  };
}

function listen(receive: Receive): () => void {
  page.Telegram ??= {};
  page.Telegram.WebView ??= {};
  const view = page.Telegram.WebView;
  if (view.onEvent) {
    const listeners = events.map((name): [string, Receive] => [name, (_name, data) => receive(name, data)]);
    for (const [name, listener] of listeners) view.onEvent(name, listener);
    return () => {
      for (const [name, listener] of listeners) view.offEvent?.(name, listener);
    };
  }
  // A page without Telegram's script: its receiver stays the first one.
  const { receiveEvent: before } = view;
  view.receiveEvent = (name, data) => {
    before?.call(view, name, data);
    receive(name, data);
  };
  const onMessage = ({ source, data }: MessageEvent) => {
    if (source !== window.parent || source === window || typeof data !== "string") return;
    try {
      const { eventType, eventData } = JSON.parse(data);
      receive(eventType, eventData);
    } catch {
      // Not a message of Telegram's client.
    }
  };
  window.addEventListener("message", onMessage);
  return () => {
    window.removeEventListener("message", onMessage);
    if (before) view.receiveEvent = before;
    else delete view.receiveEvent;
  };
}
