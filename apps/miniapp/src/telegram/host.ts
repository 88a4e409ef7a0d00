import type { ShownFrame } from "@intermission/ad-core/frame-in-view";
import type { News } from "./host-news.ts";
import type { Bridge } from "./late-bridge.ts";
import { readTheme } from "./launch.ts";
import { paintSafeArea, paintTheme } from "./paint-theme.ts";

/**
 * The Telegram client around this page. Any call may have no effect, with an old client, another frame or no client at all;
 * nothing in the app waits for a result.
 */
export interface Host {
  ready(): void;
  close(): void;
  /** Returns true if the client opens the link outside the app; otherwise the page's own link must open it. */
  openLink(url: string): boolean;
  /** The same for a link of `https://t.me`, which the client opens inside Telegram. */
  openTelegramLink(link: string): boolean;
  haptic(outcome: "success" | "warning" | "error"): void;
  /** Makes the client ask before closing the window, and prevents a swipe down from closing it. */
  holdOpen(isHeld: boolean): void;
  /**
   * Makes the client's bars black, and on a phone the window full-screen, until the returned function is called. A client
   * that cannot do either ignores it.
   */
  immerse(): () => void;
  /** Shows Telegram's back button until the returned function is called. */
  onBack(listener: () => void): () => void;
  onVisibility(listener: (isVisible: boolean) => void): () => void;
  /** Of an app in a frame: what of it can be seen. */
  frame?(): ShownFrame;
  /** Of a page that shows the app in a frame, and wants to know how it goes. */
  onNews?(news: News): void;
}

export function createHost({ post, postNow, on }: Bridge): Host {
  return {
    ready() {
      post("iframe_ready", { reload_supported: false });
      post("web_app_ready");
      post("web_app_expand");
      on("theme_changed", (data) => {
        const theme = readTheme(JSON.stringify(fieldsOf(data).theme_params));
        // A client that sends no colour must not take those that are here.
        if (Object.keys(theme).length > 0) paintTheme(theme);
      });
      on("safe_area_changed", (insets) => paintSafeArea("device", fieldsOf(insets)));
      on("content_safe_area_changed", (insets) => paintSafeArea("content", fieldsOf(insets)));
      on("settings_button_pressed", () =>
        postNow("web_app_open_link", { url: location.href.replace(/\/?([?#].*)?$/, "/settings") }),
      );
      post("web_app_setup_settings_button", { is_visible: true });
      post("web_app_request_safe_area");
      post("web_app_request_content_safe_area");
    },
    close() {
      post("web_app_setup_closing_behavior", { need_confirmation: false });
      post("web_app_close");
    },
    openLink(url) {
      // In a frame the page's links open in a new tab; a native web view would navigate itself and lose the ad.
      return "TelegramWebviewProxy" in window && postNow("web_app_open_link", { url });
    },
    openTelegramLink: (link) => postNow("web_app_open_tg_link", { path_full: link.slice("https://t.me".length) }),
    haptic: (outcome) => post("web_app_trigger_haptic_feedback", { type: "notification", notification_type: outcome }),
    holdOpen(isHeld) {
      post("web_app_setup_closing_behavior", { need_confirmation: isHeld });
      post("web_app_setup_swipe_behavior", { allow_vertical_swipe: !isHeld });
    },
    immerse() {
      const paintBars = (header: object, color: string) => {
        post("web_app_set_header_color", header);
        post("web_app_set_background_color", { color });
        post("web_app_set_bottom_bar_color", { color });
      };
      paintBars({ color: "#000000" }, "#000000");
      const isPhone = matchMedia("(pointer: coarse) and (max-width: 767px)").matches;
      if (isPhone) post("web_app_request_fullscreen");
      return () => {
        if (isPhone) post("web_app_exit_fullscreen");
        // The page's own colour, which the client or the user may have changed meanwhile.
        const colour = getComputedStyle(document.documentElement).getPropertyValue("--bg").trim();
        paintBars({ color_key: "bg_color" }, colour.length === 4 ? colour.replace(/[^#]/g, "$&$&") : colour);
      };
    },
    onBack(listener) {
      const stop = on("back_button_pressed", listener);
      post("web_app_setup_back_button", { is_visible: true });
      return () => {
        stop();
        post("web_app_setup_back_button", { is_visible: false });
      };
    },
    onVisibility: (listener) =>
      on("visibility_changed", (data) => {
        const { is_visible: isVisible } = fieldsOf(data);
        if (typeof isVisible === "boolean") listener(isVisible);
      }),
  };
}

/** An invalid value must not pause the video for ever, nor stop the app. */
function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null ? { ...data } : {};
}
