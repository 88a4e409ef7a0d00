import { afterEach, expect, test, vi } from "vitest";
import { type Bridge, lateBridge } from "./late-bridge.ts";

afterEach(() => vi.useRealTimers());

function recorder() {
  const calls: string[] = [];
  const listeners = new Map<string, (data: unknown) => void>();
  const bridge: Bridge = {
    post: (method) => calls.push(method),
    postNow: (method) => calls.push(`now ${method}`) > 0,
    on(eventType, listener) {
      listeners.set(eventType, listener);
      return () => listeners.delete(eventType);
    },
  };
  return { bridge, calls, listeners };
}

test("what was posted and listened to before the file arrived is done then, in its order, and later calls at once", async () => {
  vi.useFakeTimers();
  const { bridge, calls, listeners } = recorder();
  const fetchBridge = vi.fn().mockRejectedValueOnce(new Error("no connection")).mockResolvedValue(bridge);
  const late = lateBridge(fetchBridge);
  late.post("web_app_ready");
  const heard: unknown[] = [];
  const stop = late.on("visibility_changed", (data) => heard.push(data));
  late.on("back_button_pressed", () => {})();
  late.post("web_app_expand");
  expect(late.postNow("web_app_open_link"), "the page opens the link itself").toBe(false);
  const loading = late.load();
  await vi.runAllTimersAsync();
  await loading;
  expect(calls).toEqual(["web_app_ready", "web_app_expand"]);
  expect([...listeners.keys()]).toEqual(["visibility_changed"]);
  listeners.get("visibility_changed")?.(1);
  expect(heard).toEqual([1]);
  stop();
  expect(listeners.size).toBe(0);
  late.post("web_app_close");
  expect(late.postNow("web_app_open_tg_link")).toBe(true);
  expect(calls).toEqual(["web_app_ready", "web_app_expand", "web_app_close", "now web_app_open_tg_link"]);
});
