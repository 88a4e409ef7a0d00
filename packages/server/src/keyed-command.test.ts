import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { callWithKey } from "./keyed-command.ts";
import { httpOperatorClient } from "./operator-client.ts";

test("a command whose answer is lost names the key that it has sent, with which a repeat is recorded once", async () => {
  const sent: unknown[] = [];
  const server = createServer(async (request, response) => {
    sent.push(await json(request));
    if (sent.length === 1) response.destroy();
    else response.setHeader("content-type", "application/json").end('{"transactionId":"top-up 1"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = httpOperatorClient({ url, operatorToken: "o".repeat(32) });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  const context = { ...client, print: () => {}, copy: async () => {}, isJson: () => false };
  const call = (key: string) => ({ method: "POST", path: "/top-ups", body: { idempotencyKey: key } }) as const;
  const lost = await callWithKey(context, {}, call).catch((error: Error) => error.message);
  const [, key] = /--idempotency-key ([\w-]{16,64})/.exec(String(lost)) ?? [];
  expect(sent).toEqual([{ idempotencyKey: key }]);
  expect(await callWithKey(context, { idempotencyKey: key }, call)).toEqual({ transactionId: "top-up 1" });
  expect(sent[1]).toEqual(sent[0]);
});
