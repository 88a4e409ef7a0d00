import { expect, test } from "vitest";
import { z } from "zod";
import { clientExamples, playerExamples, webhookExamples } from "./api-examples.ts";
import * as clientApi from "./client-api.ts";
import * as playerApi from "./player-api.ts";
import * as webhooks from "./webhook-event.ts";

const modules = [
  ...Object.entries(clientExamples).map(([name, examples]) => ({ name, examples, api: clientApi })),
  ...Object.entries(playerExamples).map(([name, examples]) => ({ name, examples, api: playerApi })),
  ...Object.entries(webhookExamples).map(([name, examples]) => ({ name, examples, api: webhooks })),
];

test.each(modules)("the examples of $name fit their schema and have no unknown field", ({ name, examples, api }) => {
  const schema: unknown = new Map<string, unknown>(Object.entries(api)).get(name);
  if (!(schema instanceof z.ZodType)) throw new Error(`${name} is no schema`);
  for (const example of examples) expect(schema.parse(example)).toEqual(example);
});
