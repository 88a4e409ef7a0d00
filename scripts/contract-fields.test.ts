import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createCodeResponse } from "@intermission/ad-core/client-api";
import { webhookEvent } from "@intermission/ad-core/webhook-event";
import { expect, test } from "vitest";
import { root } from "./processes.ts";

const ofCode = Object.keys(createCodeResponse.shape);
const ofWebhook = Object.keys(webhookEvent.shape);
const python = "clients/python/src/intermission_ads";
/** The Go client has what a bot needs. */
const notInGo: readonly string[] = ["rewards", "start_param", "client_note", "revenue_micros", "currency"];

const none: readonly string[] = [];

test.each([
  { what: "a code", fields: ofCode, by: "apps/ad-service/src/codes/client-routes.ts", without: none },
  { what: "a code", fields: ofCode, by: "packages/publisher/src/create-ads.ts", without: none },
  { what: "a code", fields: ofCode, by: `${python}/results.py`, without: none },
  { what: "a code", fields: ofCode, by: "clients/go/client.go", without: notInGo },
  { what: "a webhook", fields: ofWebhook, by: "apps/ad-service/src/deliveries/webhook-body.ts", without: none },
  { what: "a webhook", fields: ofWebhook, by: "packages/publisher/src/verify-webhook.ts", without: none },
  { what: "a webhook", fields: ofWebhook, by: `${python}/webhook.py`, without: none },
  // The order in which a changed body's fields were written.
  { what: "a webhook", fields: ofWebhook, by: `${python}/refusal.py`, without: none },
  { what: "a webhook", fields: ofWebhook, by: "clients/go/refusal.go", without: none },
  { what: "a listed event", fields: ofWebhook, by: `${python}/results.py`, without: none },
  { what: "a webhook", fields: ofWebhook, by: "clients/go/webhook.go", without: notInGo },
])("each field of $what is sent or read by $by", ({ fields, by, without }) => {
  const names = new Set<string>(readFileSync(join(root, by), "utf8").match(/\w+/g));
  expect(fields.filter((name) => !names.has(name) && !without.includes(name))).toEqual([]);
});
