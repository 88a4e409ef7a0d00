import { describe, expect, test } from "vitest";
import { isSlowPhone, readLaunch } from "./launch.ts";
import { readLanguageCode } from "./read-language-code.ts";

const initData = "query_id=AA&user=%7B%22id%22%3A42%2C%22language_code%22%3A%22ru%22%7D&auth_date=1&hash=ab";

function address(path: string): Pick<Location, "pathname" | "search" | "hash"> {
  return new URL(path, "https://ads.example");
}

function launchHash(parameters: Record<string, string>): string {
  return `#${new URLSearchParams({ tgWebAppData: initData, tgWebAppVersion: "8.0", ...parameters })}`;
}

describe("forms of launch", () => {
  test("a code in the URL takes precedence", () => {
    const withStart = launchHash({ tgWebAppData: `${initData}&start_param=fromStart` });
    expect(readLaunch(address(`/app/7000000001?code=fromQuery${withStart}`))).toMatchObject({
      botId: "7000000001",
      initData: `${initData}&start_param=fromStart`,
      code: "fromQuery",
      version: "8.0",
    });
  });

  test("a signed startapp parameter is left to the ad service, because it may be the publisher's own", () => {
    const signed = launchHash({ tgWebAppData: `${initData}&start_param=ref_1` });
    expect(readLaunch(address(`/app/7?x=1${signed}`))).toMatchObject({ code: undefined, startParam: undefined });
  });

  test.each([
    { name: "the query", path: `/app/7?tgWebAppStartParam=abc${launchHash({})}` },
    { name: "the hash", path: `/app/7${launchHash({ tgWebAppStartParam: "abc" })}` },
  ])("a startapp parameter in $name is sent as such, and not as a code", ({ path }) => {
    expect(readLaunch(address(path))).toMatchObject({ code: undefined, startParam: "abc" });
  });

  test("the user id in the URL is neither a code nor an identity", () => {
    const launch = readLaunch(address(`/app/7?user_tg_id=999${launchHash({})}`));
    expect(launch).toEqual({
      botId: "7",
      initData,
      code: undefined,
      startParam: undefined,
      theme: {},
      version: "8.0",
    });
    expect(JSON.stringify(launch)).not.toContain("999");
  });

  test("a launch with only the bot and Telegram's data has no code", () => {
    expect(readLaunch(address(`/app/7${launchHash({})}`))).toMatchObject({ botId: "7", code: undefined });
  });

  test("the signed data is returned byte for byte", () => {
    const raw = "user=%7B%22first_name%22%3A%22J%C3%BCrgen%20%2B%20%26%22%7D&hash=00";
    expect(readLaunch(address(`/app/7#tgWebAppData=${encodeURIComponent(raw)}`)).initData).toBe(raw);
  });

  test.each(["android", "tdesktop"])(
    "signed data that was decoded on its way into the address of %s is read",
    (platform) => {
      const rest = `tgWebAppVersion=9.6&tgWebAppPlatform=${platform}&tgWebAppStartParam=abc`;
      const signed = `${initData}&signature=cd`;
      const decoded = `query_id=AA&user={%22id%22:42,%22language_code%22:%22ru%22}&auth_date=1&hash=ab&signature=cd`;
      for (const data of [signed, decoded])
        for (const hash of [
          `#tgWebAppData=${data}&${rest}`,
          `#${rest}&tgWebAppData=${data}`,
          `#/a?tgWebAppData=${data}&${rest}`,
        ])
          expect(readLaunch(address(`/app/7${hash}`))).toMatchObject({
            initData: data,
            startParam: "abc",
            version: "9.6",
          });
      expect(readLanguageCode(readLaunch(address(`/app/7#tgWebAppData=${decoded}&${rest}`)).initData)).toBe("ru");
    },
  );

  test("Telegram's parameters are read after a question mark if the page already had a hash", () => {
    expect(readLaunch(address(`/app/7#/start?${launchHash({}).slice(1)}`)).initData).toBe(initData);
  });
});

describe("broken launches", () => {
  test("a launch by Telegram without signed data differs from a page outside Telegram", () => {
    const ofReplyKeyboard = "#tgWebAppVersion=9.1&tgWebAppPlatform=android&tgWebAppThemeParams=%7B%7D";
    expect(readLaunch(address(`/app/7${ofReplyKeyboard}`))).toMatchObject({ initData: undefined, version: "9.1" });
    const empty = `#tgWebAppData=&${ofReplyKeyboard.slice(1)}`;
    expect(readLaunch(address(`/app/7${empty}`))).toMatchObject({ initData: undefined, version: "9.1" });
    expect(readLaunch(address("/app/7"))).toMatchObject({ initData: undefined, version: undefined });
  });

  test.each([
    { path: "/app/", botId: undefined },
    { path: "/app/abc", botId: undefined },
    { path: "/app/007", botId: undefined },
    { path: "/app/123456789012345678901", botId: undefined },
    { path: "/app/7000000001/", botId: "7000000001" },
    { path: "/app/7000000001//?user_tg_id=1", botId: "7000000001" },
  ])("$path names bot $botId", ({ path, botId }) => {
    expect(readLaunch(address(path)).botId).toBe(botId);
  });

  test.each(["", "#", "#tgWebAppData=", "#tgWebAppData", "#%", "#?&&="])("%j has no signed data", (hash) => {
    expect(readLaunch({ pathname: "/app/7", search: "", hash })).toMatchObject({
      initData: undefined,
      version: undefined,
    });
  });

  test("an empty value is ignored", () => {
    const empty = readLaunch(address("/app/7?code=&tgWebAppStartParam="));
    expect(empty).toMatchObject({ code: undefined, startParam: undefined });
  });
});

describe("theme", () => {
  const themeOf = (theme: string) => readLaunch(address(`/app/7${launchHash({ tgWebAppThemeParams: theme })}`)).theme;

  test("long and short colours are read; invalid colours are omitted", () => {
    const theme = { bg_color: "#FFF", text_color: "#17212b", hint_color: "red; }", link_color: null, accent: "#12345" };
    expect(themeOf(JSON.stringify(theme))).toEqual({ bg_color: "#FFF", text_color: "#17212b" });
  });

  test("colours that Telegram for Android sends as its numbers are read, with and without an alpha channel", () => {
    const theme = {
      bg_color: -15198165,
      text_color: -1,
      hint_color: 0x17212b,
      link_color: 255,
      button_color: 4294901760,
    };
    expect(themeOf(JSON.stringify(theme))).toEqual({
      bg_color: "#18182b",
      text_color: "#ffffff",
      hint_color: "#17212b",
      link_color: "#0000ff",
      button_color: "#ff0000",
    });
  });

  test.each(["", "{", "null", "[]", "7", '"#fff"'])("%j is not a theme", (json) => {
    expect(themeOf(json)).toEqual({});
  });
});

describe("language of the user", () => {
  test("is read from the signed data", () => expect(readLanguageCode(initData)).toBe("ru"));

  test.each([undefined, "", "user=", "user=%7B", "user=null", "user=%7B%22language_code%22%3A7%7D"])(
    "%j contains none",
    (damaged) => expect(readLanguageCode(damaged)).toBeUndefined(),
  );
});

test.each([
  ["Mozilla/5.0 (Linux; Android 9) Telegram-Android/11.4.2 (Xiaomi Redmi 7A; Android 9; SDK 28; LOW)", true],
  ["Mozilla/5.0 (Linux; Android 9) Telegram-Android/11.4.2 (Phone (2; LOW) plus; Android 9; SDK 28; LOW)", true],
  ["Mozilla/5.0 (Linux; Android 14) Telegram-Android/11.4.2 (Google Pixel 8; Android 14; SDK 34; HIGH)", false],
  ["Mozilla/5.0 (Linux; Android 14) Telegram-Android/11.4.2 (Lowe LOW; Android 14; SDK 34; AVERAGE)", false],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 14_0 like Mac OS X; LOW)", false],
])("the agent %s is that of a slow phone: %s", (userAgent, isSlow) => {
  expect(isSlowPhone(userAgent)).toBe(isSlow);
});
