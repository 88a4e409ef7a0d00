import { expect, test } from "vitest";
import { mistypedVariables, readStartOptions } from "./start-options.ts";

test("without options the demo's own bot runs", () => {
  expect(readStartOptions([], {})).toEqual({ isHelp: false, isWatched: false, ownBot: undefined, made: undefined });
  expect(readStartOptions(["--watch"], {})).toMatchObject({ isWatched: true });
});

test("--bot takes the bot's webhook address, and its token from the environment", () => {
  const words = ["--bot", "123456789", "--webhook-url", "http://127.0.0.1:3000/webhooks/ads"];
  expect(readStartOptions(words, { AD_API_TOKEN: "ad_t", HOST: "::1", MODE: "demo" }).ownBot).toEqual({
    botId: "123456789",
    webhookUrl: "http://127.0.0.1:3000/webhooks/ads",
    apiToken: "ad_t",
  });
  expect(readStartOptions(["--bot=123456789"], {}).ownBot).toEqual({
    botId: "123456789",
    webhookUrl: undefined,
    apiToken: undefined,
  });
});

test.each<[string, string[], NodeJS.ProcessEnv, string]>([
  ["--bot in production", ["--bot", "1"], { MODE: "production" }, "only in demo mode"],
  ["--bot on an address of the network", ["--bot", "1"], { HOST: "0.0.0.0" }, "only in demo mode and on a loopback"],
  ["a name in place of an id", ["--bot", "my_bot"], {}, "is not the id of a bot"],
  ["a webhook address without a bot", ["--webhook-url", "http://127.0.0.1/"], {}, "needs --bot"],
  ["an unknown option", ["--bots", "1"], {}, "--bots"],
  ["a word too many", ["telegraf"], {}, "no option telegraf"],
  ["an unknown kind of bot", ["--make-bot", "delphi", "x"], {}, 'no kind of bot "delphi"'],
  ["a bot without a folder", ["--make-bot", "go"], {}, "folder is missing"],
])("%s is refused", (_what, words, env, message) => {
  expect(() => readStartOptions(words, env)).toThrow(message);
});

test("a mistyped variable is told", () => {
  expect(mistypedVariables({ DEMO_BOT_PROT: "8700", DATADIR: "/srv", PATH: "/bin", DATA_DIR: "/srv" })).toEqual([
    "DEMO_BOT_PROT is set, and nothing reads it: did you mean DEMO_BOT_PORT?",
    "DATADIR is set, and nothing reads it: did you mean DATA_DIR?",
  ]);
});
