import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sign } from "@intermission/ad-core/signature";
import { startCommandHost } from "@intermission/testing/host-commands";
import { copyCluster } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { type ServerProcess, startProcess, startServerProcess } from "./fixtures/process-fixture.ts";

/** Real processes: a server without a bot in its environment, and the command line that manages its bots. */

const [first, second, third] = ["8000000001", "8000000002", "8000000004"] as const;
const encryption = { ENCRYPTION_KEY: Buffer.alloc(32, 3).toString("base64") };
let folder: string;
let base: NodeJS.ProcessEnv;
let host: ReturnType<typeof startCommandHost>;
let server: ServerProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "intermission-bots-cli-"));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  base = { PATH, NODE_COMPILE_CACHE, DATA_DIR: folder };
  host = startCommandHost(join(import.meta.dirname, "../src/cli.ts"), base);
  for (const id of [first, second, third]) {
    await writeFile(join(folder, `ad-${id}`), `ad_token_of_${id}\n`);
    await writeFile(join(folder, `telegram-${id}`), `${id}:${"T".repeat(35)}\n`);
  }
  await copyCluster(folder, { schema: "api", migrations });
  server = await startServerProcess({ ...base, ...encryption });
});
afterAll(async () => {
  await host.stop();
  server.child.kill("SIGTERM");
  // Until then PostgreSQL writes into the folder.
  await server.end;
  await rm(folder, { recursive: true, force: true });
});

const api = (words: string, env: Record<string, string> = {}) => host.run(words.split(" "), env);
const json = async (words: string, env: Record<string, string> = {}) => {
  const { code, out, err } = await api(`${words} --json`, env);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out);
};
const addOf = (id: string, files = id) =>
  `bots add --bot-id ${id} --ad-token-file ${join(folder, `ad-${files}`)} --telegram-token-file ${join(folder, `telegram-${files}`)}`;

async function deliver(botId: string, event: object): Promise<number> {
  const body = JSON.stringify(event);
  const signature = sign(Buffer.from(body), `ad_token_of_${botId}`);
  const headers = { "content-type": "application/json", "x-signature": signature };
  return (await fetch(`${server.url}/webhooks/ads/${botId}`, { method: "POST", body, headers })).status;
}

test("bots are added, served at once, changed, rotated and removed, and no secret is shown again", async () => {
  expect(await api("bots list")).toMatchObject({ code: 0, out: "none\n" });
  const added = await json(`${addOf(first)} --reward-rewarded 5`);
  expect(added).toMatchObject({ botId: first, state: "served", rewardRewarded: 5, dailyCap: null });
  expect(await deliver(first, { event: "rewarded", user_tg_id: "42", event_id: "evt_1", code: "code1" })).toBe(200);
  expect(await json("rewards balance 42")).toEqual({ userId: "42", balance: 5 });
  expect(await api(addOf(second))).toMatchObject({ code: 0, out: expect.stringContaining(`/webhooks/ads/${second}`) });

  const unclear = await api("rewards balance 42");
  expect(unclear).toMatchObject({ code: 1, err: expect.stringMatching(/several bots.*select one by BOT_ID/) });
  expect(await json("rewards balance 42", { BOT_ID: first })).toEqual({ userId: "42", balance: 5 });
  expect(await json("rewards balance 42", { BOT_ID: second })).toEqual({ userId: "42", balance: 0 });

  expect(await json(`bots set ${first} --daily-cap 3 --username garden_bot`)).toMatchObject({ dailyCap: 3 });
  expect(await json(`bots set ${first} --daily-cap none`)).toMatchObject({ dailyCap: null, username: "garden_bot" });
  const { backendApiKey } = await json(`bots rotate-key ${first}`);
  expect(backendApiKey).toMatch(/^[\w-]{43}$/);
  const shown = await json(`bots show ${first}`);
  expect(shown).toMatchObject({ adTokens: 1, backendKeys: 2, rewardRewarded: 5 });
  const everything = JSON.stringify([shown, await json("bots list")]);
  for (const secret of [added.backendApiKey, backendApiKey, `ad_token_of_${first}`, "TTTT"]) {
    expect(everything).not.toContain(secret);
  }
  expect(
    await json(`bots rotate-ad-token ${second} --ad-token-file ${join(folder, `telegram-${first}`)}`),
  ).toMatchObject({
    adTokens: 2,
  });
  expect(await json(`bots remove ${second}`)).toMatchObject({ state: "removed", adTokens: 0, backendKeys: 0 });
  expect(await deliver(second, { event: "rewarded", user_tg_id: "42", event_id: "evt_1" })).toBe(404);
});

test("what is wrong is refused with the reason", async () => {
  expect(await api(addOf(first))).toMatchObject({ code: 1, err: expect.stringContaining("in the table already") });
  const mixed = addOf("8000000003", first);
  expect(await api(mixed)).toMatchObject({ code: 1, err: expect.stringContaining("of another bot") });
  expect(await api("bots set 9 --daily-cap 3")).toMatchObject({ code: 1, err: expect.stringContaining("no bot 9") });
  expect(await api("bots add --bot-id 1 --ad-token-file nowhere")).toMatchObject({ code: 2 });
  expect(await api(`bots set ${first} --daily-cap 0`)).toMatchObject({ code: 1 });
});

test("operator procedures are not reachable over the network", async () => {
  const response = await fetch(`${server.url}/operator/bots.list`);
  expect(response.status).toBe(404);
});

test("the tokens are encrypted with another ENCRYPTION_KEY, and back, while the server runs", async () => {
  const next = Buffer.alloc(32, 4).toString("base64");
  const both = { ENCRYPTION_KEY: next, PREVIOUS_ENCRYPTION_KEY: encryption.ENCRYPTION_KEY };
  const { previous, unreadable } = await json("rotate-encryption-key", both);
  expect({ previous: previous > 0, unreadable }).toEqual({ previous: true, unreadable: [] });
  expect(await json("rotate-encryption-key", both)).toEqual({ current: previous, previous: 0, unreadable: [] });
  // The server that runs still has the old key.
  const back = { ENCRYPTION_KEY: encryption.ENCRYPTION_KEY, PREVIOUS_ENCRYPTION_KEY: next };
  expect(await json("rotate-encryption-key", back)).toEqual({ current: 0, previous, unreadable: [] });
});

test("after the server has stopped, the command line manages bots on the store itself, with the key", {
  tags: "long",
}, async () => {
  await json(addOf(third));
  server.child.kill("SIGTERM");
  expect((await server.end).code).toBe(0);
  const run = (words: string, env: NodeJS.ProcessEnv) =>
    startProcess("cli.ts", words.split(" "), { ...base, ...env }).end;
  expect(await run(`bots rotate-key ${third}`, {})).toMatchObject({
    code: 1,
    err: expect.stringContaining("ENCRYPTION_KEY"),
  });
  expect(await run(`bots rotate-key ${third}`, encryption)).toMatchObject({ code: 0, err: "" });
});
