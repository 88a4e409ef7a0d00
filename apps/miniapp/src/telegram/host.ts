import {
  createPostEvent,
  type EventName,
  type EventPayload,
  type MethodName,
  on,
  targetOrigin,
} from "@telegram-apps/sdk-react";
import { readTheme } from "./launch.ts";
import { paintButton } from "./paint-button.ts";
import { paintSafeArea } from "./paint-safe-area.ts";
import { paintTheme } from "./paint-theme.ts";

/**
 * The Telegram client around this page. Every call may have no effect: an old client, another frame or no client at all leaves
 * it unheard, and nothing in the app waits for one.
 */
export interface Host {
  ready(): void;
  close(): void;
  /** True where the client opens the link itself, beside the app; else the page's own link must do it. */
  openLink(url: string): boolean;
  haptic(outcome: "success" | "warning" | "error"): void;
  /** Asks before the window closes and keeps a swipe down from closing it. */
  holdOpen(isHeld: boolean): void;
  /** Shows Telegram's back button for as long as somebody listens. */
  onBack(listener: () => void): () => void;
  onVisibility(listener: (isVisible: boolean) => void): () => void;
}

/**
 * Uses the SDK's bridge and not its components: those refuse to work where the launch data is not what they expect (a
 * missing `signature`, short colours), which real clients send, and cost 12 kB of the first load.
 */
export function createHost(version: string): Host {
  // What is sent holds no secrets, and the page's policy decides who may frame it.
  attempt(() => targetOrigin.set("*"));

  // Throws for what the client's version does not know, and where there is no client.
  const send: (method: MethodName, parameters?: object) => void = createPostEvent(version);
  const post = (method: MethodName, parameters?: object) => attempt(() => send(method, parameters));
  const listen = <Name extends EventName>(name: Name, listener: (payload: EventPayload<Name>) => void) =>
    attempt(() => on(name, listener)) ?? (() => {});

  return {
    ready() {
      post("iframe_ready", { reload_supported: false });
      post("web_app_ready");
      post("web_app_expand");
      listen("theme_changed", ({ theme_params }) => {
        const theme = readTheme(JSON.stringify(theme_params));
        paintTheme(theme);
        paintButton(theme);
      });
      listen("safe_area_changed", (insets) => paintSafeArea("device", insets));
      listen("content_safe_area_changed", (insets) => paintSafeArea("content", insets));
      post("web_app_request_safe_area");
      post("web_app_request_content_safe_area");
    },
    close() {
      post("web_app_setup_closing_behavior", { need_confirmation: false });
      post("web_app_close");
    },
    openLink(url) {
      // A frame's own links open beside it; a native web view would go there itself and lose the ad.
      if (!("TelegramWebviewProxy" in window)) return false;
      const { hostname, pathname, search } = new URL(url);
      if (hostname === "t.me") post("web_app_open_tg_link", { path_full: pathname + search });
      else post("web_app_open_link", { url });
      return true;
    },
    haptic: (outcome) => post("web_app_trigger_haptic_feedback", { type: "notification", notification_type: outcome }),
    holdOpen(isHeld) {
      post("web_app_setup_closing_behavior", { need_confirmation: isHeld });
      post("web_app_setup_swipe_behavior", { allow_vertical_swipe: !isHeld });
    },
    onBack(listener) {
      const stop = listen("back_button_pressed", listener);
      post("web_app_setup_back_button", { is_visible: true });
      return () => {
        stop();
        post("web_app_setup_back_button", { is_visible: false });
      };
    },
    // What says neither yes nor no must not hold the video for ever.
    onVisibility: (listener) =>
      listen("visibility_changed", (payload: { is_visible?: unknown } | null) => {
        if (typeof payload?.is_visible === "boolean") listener(payload.is_visible);
      }),
  };
}

function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
