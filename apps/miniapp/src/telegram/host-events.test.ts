import { expect, test, vi } from "vitest";
import { createHost } from "./host.ts";

// In a separate file from the other host tests, because the SDK's bridge keeps listening to the first window it gets.
test("visibility events of the client are ignored unless the value is a boolean", () => {
  const page = Object.assign(new EventTarget(), { parent: {} });
  const window = Object.assign(page, { self: page, top: page });
  vi.stubGlobal("window", window);
  const heard: boolean[] = [];
  createHost("8.0").onVisibility((isVisible) => heard.push(isVisible));
  const said = [null, "false", 0, [], {}, { is_visible: "no" }, { is_visible: false }, { is_visible: true }];
  for (const eventData of said) {
    const data = JSON.stringify({ eventType: "visibility_changed", eventData });
    window.dispatchEvent(Object.assign(new Event("message"), { data, source: window.parent }));
  }
  expect(heard).toEqual([false, true]);
});
