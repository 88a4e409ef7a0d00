declare global {
  interface Window {
    TelegramWebviewProxy?: { postEvent(method: string, parameters: string): void };
  }
}

/**
 * At the first paint, before the app's files arrive: removes the client's placeholder and expands the window. Neither has an
 * answer; the insets are requested by the app, which can hear their answers. Small enough to be inlined into the page.
 */
export function greetClient(): void {
  const proxy = window.TelegramWebviewProxy;
  requestAnimationFrame(() => {
    for (const method of ["web_app_ready", "web_app_expand"]) {
      if (proxy) proxy.postEvent(method, "{}");
      // To the client that frames this page; outside Telegram to this window, where nothing listens.
      else parent.postMessage(`{"eventType":"${method}"}`, "*");
    }
  });
}
