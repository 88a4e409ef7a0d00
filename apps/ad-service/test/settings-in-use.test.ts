import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { botSettings } from "@intermission/operator-api/bots";
import { campaignSettings, targeting } from "@intermission/operator-api/campaigns";
import { problems } from "@intermission/operator-api/problems";
import { storedName } from "@intermission/operator-api/stored-names";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";

const source = join(import.meta.dirname, "../src");

/** They store, check and show settings whatever these mean. */
const ofAllSettings = /^(config|campaigns\/(campaign-settings|commands)|bots\/(bot-settings|commands))[.]ts$/;

const names = new Set(
  readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => /[.]ts$/.test(file) && !/[.]test[.]ts$/.test(file) && !ofAllSettings.test(file))
    .flatMap((file) => readFileSync(join(source, file), "utf8").match(/\w+/g) ?? []),
);

test("each setting of a campaign and of a bot is read by a rule", () => {
  const settings = [campaignSettings, targeting, botSettings].flatMap((schema) => schema.keyof().options);
  expect(settings.filter((name) => !names.has(name) && !names.has(storedName(name)))).toEqual([]);
});

test("each setting of the server is read by what it sets", () => {
  const config = readConfig({ MODE: "demo", ENCRYPTION_KEY: Buffer.alloc(32).toString("base64") });
  expect(Object.keys(config).filter((name) => !names.has(name))).toEqual([]);
});

test("each refusal that screens say is one of a route", () => {
  expect(Object.keys(problems).filter((code) => !names.has(code))).toEqual([]);
});
