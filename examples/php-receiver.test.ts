import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refusalOfAnswer } from "@intermission/ad-core/webhook-refusal";
import { freePort } from "@intermission/testing/free-port";
import table from "@intermission/testing/misbehaving-handlers.json" with { type: "json" };
import userIds from "@intermission/testing/user-ids.json" with { type: "json" };
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fakeAdService, signWebhook } from "../packages/publisher/src/testing.ts";
import { findPhp } from "../scripts/find-programs.ts";

const php = findPhp();
if ("missing" in php) console.log(`!!! examples/php was not tested: ${php.missing}`);
const token = "ad_test";

describe.skipIf("missing" in php)("examples/php", () => {
  let scratch: string;
  let server: ChildProcess;
  let url: string;
  const ads = fakeAdService();
  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), "intermission-php-"));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const service = await ads.listen();
    const env = { AD_API_TOKEN: token, BOT_ID: ads.botId, AD_SERVICE_URL: service, LEDGER: join(scratch, "coins") };
    // -n: without a php.ini, as in the images of Docker.
    server = spawn("path" in php ? php.path : "", ["-n", "-S", `127.0.0.1:${port}`, "index.php"], {
      cwd: join(import.meta.dirname, "php"),
      env: { ...process.env, ...env },
      stdio: "ignore",
    });
    await vi.waitFor(() => fetch(url), { timeout: 20_000, interval: 20 });
  });
  afterAll(async () => {
    const ended = once(server, "exit");
    server.kill();
    await ended;
    await ads.close();
    rmSync(scratch, { recursive: true });
  });

  const send = (request: RequestInit) => fetch(`${url}/webhooks/ads`, request);
  const coins = async (user: string) =>
    ((await (await fetch(`${url}/coins/${user}`)).json()) as { coins: number }).coins;

  test("a payment that fails is not answered 200, whatever php.ini says, and is there once in the end", async () => {
    const [fails] = table.handlers;
    expect(fails?.name).toBe("fails");
    const webhook = signWebhook({ userId: "42" }, token);
    // A ledger that cannot be written: the handler's fault.
    mkdirSync(join(scratch, "coins.lock"));
    for (let delivery = 0; delivery < 3; delivery++) expect((await send(webhook)).status).toBe(500);
    expect(await coins("42")).toBe(0);
    rmSync(join(scratch, "coins.lock"), { recursive: true });
    for (let delivery = 0; delivery < 2; delivery++) expect((await send(webhook)).status).toBe(200);
    expect(await coins("42")).toBe(10);
  });

  const { headers, body, method } = signWebhook({ userId: "43" }, token);
  const without = (name: string) => ({ ...headers, [name]: undefined });
  test.each([
    [{ fault: "missing-signature" }, without("x-signature")],
    [{ fault: "malformed-signature" }, { ...headers, "x-signature": "sha256=A" }],
    [{ fault: "wrong-signature", cause: "unknown" }, signWebhook({ userId: "43" }, "ad_other").headers],
    [{ fault: "wrong-webhook-signature", cause: "missing-header", header: "webhook-id" }, without("webhook-id")],
    [
      { fault: "wrong-webhook-signature", cause: "milliseconds" },
      { ...headers, "webhook-timestamp": "1767323381000" },
    ],
    [
      { fault: "wrong-webhook-signature", cause: "mismatch" },
      { ...headers, "webhook-id": "evt_other" },
    ],
  ])("answers 401 with %j, which doctor reads", async (refusal, sent) => {
    const present = Object.entries(sent).filter((header): header is [string, string] => header[1] !== undefined);
    const answer = await send({ method, headers: present, body });
    expect(answer.status).toBe(401);
    expect(refusalOfAnswer(await answer.text())).toEqual(refusal);
  });

  test("says how old a genuine webhook is", async () => {
    const answer = await send(signWebhook({ userId: "43" }, token, { now: new Date(Date.now() - 3_600_000) }));
    expect(refusalOfAnswer(await answer.text())).toEqual({ fault: "stale", seconds: expect.closeTo(3600, -2) });
  });

  test("makes codes for the same ids as every client", async () => {
    const statusOf = async (id: string) => (await fetch(`${url}/ads/${id}`)).status;
    for (const id of userIds.many_people) expect(await statusOf(id), id).toBe(400);
    for (const id of userIds.chats) expect(await statusOf(id), id).toBe(400);
    expect(await coins("43")).toBe(0);
  });
});
