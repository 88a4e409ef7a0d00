import { beforeAll, expect, test, vi } from "vitest";
import { createHost } from "./host.ts";
import { createBridge } from "./sdk-bridge.ts";

// In a separate file from the other host tests, because the SDK's bridge keeps listening to the first window it gets.
const page = Object.assign(new EventTarget(), { parent: {} });
const window = Object.assign(page, { self: page, top: page });
const properties = new Map<string, string>();
const style = {
  setProperty: (name: string, value: string) => properties.set(name, value),
  removeProperty: (name: string) => properties.delete(name),
};

beforeAll(() => {
  vi.stubGlobal("window", window);
  vi.stubGlobal("document", { documentElement: { style, dataset: {} } });
  vi.stubGlobal("getComputedStyle", () => ({ getPropertyValue: () => "#808080" }));
});

function send(eventType: string, eventData: unknown): void {
  const data = JSON.stringify({ eventType, eventData });
  window.dispatchEvent(Object.assign(new Event("message"), { data, source: window.parent }));
}

test("visibility events of the client are ignored unless the value is a boolean", () => {
  const heard: boolean[] = [];
  createHost(createBridge("8.0")).onVisibility((isVisible) => heard.push(isVisible));
  const said = [null, "false", 0, [], {}, { is_visible: "no" }, { is_visible: false }, { is_visible: true }];
  for (const eventData of said) send("visibility_changed", eventData);
  expect(heard).toEqual([false, true]);
});

test("a changed theme is painted, with its colours as text or as Android's numbers", () => {
  createHost(createBridge("8.0")).ready();
  send("theme_changed", { theme_params: { bg_color: "#17212b", text_color: "#f5f5f5" } });
  expect(properties.get("--bg")).toBe("#17212b");
  send("theme_changed", { theme_params: { bg_color: -1, text_color: -16777216 } });
  expect([properties.get("--bg"), properties.get("--text")]).toEqual(["#ffffff", "#000000"]);
});
