import { expect, test } from "vitest";
import { chooseAddresses } from "./seed-own-bot.ts";

const apiUrl = "http://127.0.0.1:8702";
const companion = { webhookUrl: `${apiUrl}/webhooks/ads`, publisherApiUrl: apiUrl };
const own = { webhookUrl: "http://127.0.0.1:3000/webhook", publisherApiUrl: null };

test("a bot without a webhook address uses the companion API, on whichever port it runs", () => {
  expect(chooseAddresses(undefined, undefined, apiUrl)).toEqual(companion);
  expect(chooseAddresses({ webhookUrl: null, publisherApiUrl: null }, undefined, apiUrl)).toEqual(companion);
  const earlier = { webhookUrl: "http://127.0.0.1:9999/webhooks/ads", publisherApiUrl: "http://127.0.0.1:9999" };
  expect(chooseAddresses(earlier, undefined, apiUrl)).toEqual(companion);
});

test("a bot's own addresses are kept, and --webhook-url replaces the webhook's", () => {
  expect(chooseAddresses(own, undefined, apiUrl)).toEqual(own);
  expect(chooseAddresses(companion, own.webhookUrl, apiUrl)).toEqual(own);
  expect(chooseAddresses(undefined, own.webhookUrl, apiUrl)).toEqual(own);
  const withApi = { webhookUrl: "http://127.0.0.1:3000/old", publisherApiUrl: "https://bot.example" };
  expect(chooseAddresses(withApi, own.webhookUrl, apiUrl)).toEqual({ ...withApi, webhookUrl: own.webhookUrl });
});
