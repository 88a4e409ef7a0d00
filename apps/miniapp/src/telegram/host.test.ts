import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createHost, type Host } from "./host.ts";
import { paintTheme } from "./paint-theme.ts";
import { contrastOf } from "./readable-theme.ts";
import { createBridge } from "./sdk-bridge.ts";

/** The part of a browser's window that the bridge uses. */
function fakePage() {
  const properties = new Map<string, string>();
  const style = {
    properties,
    colorScheme: "",
    setProperty: (name: string, value: string) => properties.set(name, value),
    removeProperty: (name: string) => properties.delete(name),
  };
  const root = { style, dataset: {} as Record<string, string> };
  const page = Object.assign(new EventTarget(), { parent: {}, document: { documentElement: root } });
  const window = Object.assign(page, { self: page, top: page });
  vi.stubGlobal("window", window);
  vi.stubGlobal("document", window.document);
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  vi.stubGlobal("getComputedStyle", () => ({ getPropertyValue: () => "#ffffff" }));
  return { window, root };
}

function useEverything(host: Host): void {
  host.ready();
  host.holdOpen(true);
  host.immerse()();
  host.haptic("success");
  host.onBack(() => {})();
  host.onVisibility(() => {})();
  host.openLink("https://example.com/");
  host.openTelegramLink("https://t.me/some_bot");
  host.holdOpen(false);
  host.close();
}

let page: ReturnType<typeof fakePage>;
beforeEach(() => {
  page = fakePage();
});
afterEach(() => vi.unstubAllGlobals());

describe("without a client", () => {
  test.each(["8.0", "6.0", "", "nonsense"])("no call throws with version %j", (version) => {
    expect(() => useEverything(createHost(createBridge(version)))).not.toThrow();
  });

  test("a bridge that throws is ignored", () => {
    Object.assign(page.window, {
      TelegramWebviewProxy: {
        postEvent() {
          throw new Error("gone");
        },
      },
    });
    expect(() => useEverything(createHost(createBridge("8.0")))).not.toThrow();
  });
});

describe("with a native client", () => {
  function record(): string[] {
    const posted: string[] = [];
    const postEvent = (type: string, data: string | undefined) => posted.push(`${type} ${data ?? ""}`.trim());
    Object.assign(page.window, { TelegramWebviewProxy: { postEvent } });
    return posted;
  }

  test("the bars are black on stage, then take the page's own colour; a phone's window is full-screen meanwhile", () => {
    const posted = record();
    vi.stubGlobal("matchMedia", () => ({ matches: true }));
    vi.stubGlobal("getComputedStyle", () => ({ getPropertyValue: () => " #1a2" }));
    const host = createHost(createBridge("8.0"));
    const restore = host.immerse();
    const bars = (color: string) => [
      `web_app_set_background_color {"color":"${color}"}`,
      `web_app_set_bottom_bar_color {"color":"${color}"}`,
    ];
    expect(posted).toEqual([
      'web_app_set_header_color {"color":"#000000"}',
      ...bars("#000000"),
      "web_app_request_fullscreen",
    ]);
    posted.length = 0;
    restore();
    expect(posted).toEqual([
      "web_app_exit_fullscreen",
      'web_app_set_header_color {"color_key":"bg_color"}',
      ...bars("#11aa22"),
    ]);
  });

  test("the closing confirmation is disabled before the window is closed", () => {
    const posted = record();
    const host = createHost(createBridge("8.0"));
    host.holdOpen(true);
    host.close();
    expect(posted).toEqual([
      'web_app_setup_closing_behavior {"need_confirmation":true}',
      'web_app_setup_swipe_behavior {"allow_vertical_swipe":false}',
      'web_app_setup_closing_behavior {"need_confirmation":false}',
      "web_app_close",
    ]);
  });

  test("an old client does not get methods that it does not support", () => {
    const posted = record();
    createHost(createBridge("6.0")).holdOpen(true);
    expect(posted).toEqual(['web_app_setup_closing_behavior {"need_confirmation":true}']);
  });

  test("links open outside the app; t.me links open inside Telegram", () => {
    const posted = record();
    const host = createHost(createBridge("8.0"));
    expect(host.openLink("https://shop.example/a?b=1")).toBe(true);
    expect(host.openTelegramLink("https://t.me/some_bot?start=x")).toBe(true);
    expect(posted).toEqual([
      'web_app_open_link {"url":"https://shop.example/a?b=1"}',
      'web_app_open_tg_link {"path_full":"/some_bot?start=x"}',
    ]);
  });
});

test.each([
  ["an old client, which has no such methods", "6.0"],
  ["a client whose bridge throws", "8.0"],
])("the page's own links are left to %s", (_name, version) => {
  const postEvent = () => {
    throw new Error("gone");
  };
  Object.assign(page.window, { TelegramWebviewProxy: { postEvent } });
  const host = createHost(createBridge(version));
  expect([host.openLink("https://shop.example/"), host.openTelegramLink("https://t.me/some_bot")]).toEqual([
    false,
    false,
  ]);
});

test("in a frame, links of Telegram are passed to its web client, and others left to the browser", () => {
  const posted: unknown[] = [];
  Object.assign(page.window, {
    top: {},
    parent: { postMessage: (message: string) => posted.push(JSON.parse(message)) },
  });
  const host = createHost(createBridge("8.0"));
  expect(host.openLink("https://shop.example/")).toBe(false);
  expect(host.openTelegramLink("https://t.me/+AbC")).toBe(true);
  expect(posted).toEqual([{ eventType: "web_app_open_tg_link", eventData: { path_full: "/+AbC" } }]);
});

test("short colours are applied, and dark ones are distinguished from light ones", () => {
  paintTheme({ bg_color: "#fff", secondary_bg_color: "#eee", text_color: "#000" });
  expect(page.root.style.properties.get("--bg")).toBe("#ffffff");
  expect(page.root.style.properties.get("--surface")).toBe("#eeeeee");
  expect(page.root.dataset.scheme).toBe("light");
  paintTheme({ bg_color: "#17212b" });
  expect(page.root.dataset.scheme).toBe("dark");
});

test("a theme that names half of the colours leaves none of an earlier one", () => {
  const { properties } = page.root.style;
  paintTheme({ bg_color: "#ffffff", text_color: "#102030", button_color: "#8774e1", secondary_bg_color: "#eeeeee" });
  paintTheme({ bg_color: "#000000" });
  expect(page.root.dataset.scheme).toBe("dark");
  expect(properties.get("--bg")).toBe("#000000");
  expect([...properties.values()].filter((colour) => ["#102030", "#eeeeee"].includes(colour))).toEqual([]);
  expect(contrastOf(properties.get("--text") ?? "", "#000000")).toBeGreaterThanOrEqual(4.5);
  paintTheme({});
  expect([...properties]).toEqual([]);
  expect(page.root.dataset.scheme).toBeUndefined();
});

test("a theme that names only a light text is a dark one", () => {
  paintTheme({ text_color: "#f5f5f5" });
  expect(page.root.dataset.scheme).toBe("dark");
});
