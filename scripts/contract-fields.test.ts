import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createCodeResponse } from "@intermission/ad-core/client-api";
import { webhookFieldOrder } from "@intermission/ad-core/outgoing-webhook";
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
  {
    what: "a webhook, and of a listed event,",
    fields: ofWebhook,
    by: `${python}/webhook.py`,
    within: /^def event_arguments.*?^ {4}[}]/ms,
    without: none,
  },
  {
    what: "a webhook",
    fields: ofWebhook,
    by: "clients/go/webhook.go",
    within: /^type Event struct .*?^[}]/ms,
    without: notInGo,
  },
])("each field of $what is sent or read by $by", ({ fields, by, within = /.*/s, without }) => {
  const [text = ""] = within.exec(readFileSync(join(root, by), "utf8")) ?? [];
  const names = new Set<string>(text.match(/\w+/g));
  expect(fields.filter((name) => !names.has(name) && !without.includes(name))).toEqual([]);
});

test.each([
  { by: `${python}/webhook.py`, within: /^field_order = .*?^[)]/ms, name: /"(\w+)"/g },
  { by: "clients/go/webhook.go", within: /^type sentEvent struct .*?^[}]/ms, name: /json:"(\w+),/g },
])("$by has the order in which the fields of a webhook are written, by which it knows a changed body", (place) => {
  const [text = ""] = place.within.exec(readFileSync(join(root, place.by), "utf8")) ?? [];
  expect([...text.matchAll(place.name)].map(([, name]) => name)).toEqual(webhookFieldOrder);
});
