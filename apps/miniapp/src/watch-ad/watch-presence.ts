import type { Host } from "../telegram/host.ts";

/**
 * Reports whether the user is looking at the page. No single signal works in every client, so any of these means away:
 * `visibilitychange`, the window's `blur` and `pagehide`, and Telegram's own `visibility_changed`. A touch means present,
 * even if the matching `focus` is never fired.
 */
export function watchPresence(host: Host, onChange: (isHere: boolean) => void): () => void {
  const away = new Set<"document" | "window" | "page" | "telegram">();
  if (document.visibilityState === "hidden") away.add("document");
  const set = (signal: "document" | "window" | "page" | "telegram", isHere: boolean) => {
    if (isHere) away.delete(signal);
    else away.add(signal);
    onChange(away.size === 0);
  };
  const stop = new AbortController();
  const listening = { signal: stop.signal };

  const onVisibility = () => set("document", document.visibilityState !== "hidden");
  document.addEventListener("visibilitychange", onVisibility, listening);
  // Only after the event is it known whether the focus left the window or moved inside it.
  const onBlur = () => setTimeout(() => stop.signal.aborted || document.hasFocus() || set("window", false));
  window.addEventListener("blur", onBlur, listening);
  window.addEventListener("focus", () => set("window", true), listening);
  window.addEventListener("pagehide", () => set("page", false), listening);
  window.addEventListener("pageshow", () => set("page", true), listening);
  const onTouch = () => {
    away.clear();
    onChange(true);
  };
  window.addEventListener("click", onTouch, { ...listening, capture: true });
  const stopTelegram = host.onVisibility((isVisible) => set("telegram", isVisible));
  if (away.size > 0) onChange(false);
  return () => {
    stop.abort();
    stopTelegram();
  };
}
