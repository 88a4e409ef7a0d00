import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sign } from "@intermission/ad-core/signature";
import { type Ended, startCommandHost } from "@intermission/testing/host-commands";
import { copyCluster, createServerDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { testConfig, testToken } from "./fixtures/api-fixture.ts";
import { type ServerProcess, startProcess, startServerProcess } from "./fixtures/process-fixture.ts";

/** Real processes: the server, and the command line beside it. */

let dataDir: string;
let base: NodeJS.ProcessEnv;
let host: ReturnType<typeof startCommandHost>;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "intermission-api-cli-"));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  base = { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir };
  host = startCommandHost(join(import.meta.dirname, "../src/cli.ts"), base);
});
afterAll(async () => {
  await host.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const api = (words: string) => host.run(words.split(" "), {});
/** For commands that open a store. */
const apiProcess = (words: string, env: NodeJS.ProcessEnv = {}) =>
  startProcess("cli.ts", words.split(" "), { ...base, ...env }).end;
const json = async (words: string, run: (words: string) => Promise<Ended> = api) => {
  const { code, out, err } = await run(`${words} --json`);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out);
};

const startServer = () =>
  startServerProcess({
    ...base,
    BOT_ID: testConfig.botId,
    AD_API_TOKENS: testToken,
    BACKEND_API_KEY: testConfig.backendApiKey,
    TELEGRAM_BOT_TOKEN: testConfig.telegramBotToken,
  });

async function deliver(url: string, body: string, signature = sign(Buffer.from(body), testToken)): Promise<number> {
  const headers = { "content-type": "application/json", "x-signature": signature };
  return (await fetch(`${url}/webhooks/ads`, { method: "POST", body, headers })).status;
}

test("without a store none is created, and the next step is printed", async () => {
  const ended = await apiProcess("receipts list");
  expect(ended).toMatchObject({ code: 3, out: "", err: expect.stringContaining("DATA_DIR") });
});

test.runIf(process.env.TEST_DATABASE_URL)(
  "an empty database is reported as empty, and stays empty",
  { tags: "long" },
  async () => {
    const { url, drop } = await createServerDatabase();
    const err = expect.stringMatching(/^api: .*no schema "api" yet: start the server once/);
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await apiProcess("receipts list", { DATABASE_URL: url })).toMatchObject({ code: 3, out: "", err });
    }
    await drop();
  },
);

test.each([
  "receipts",
  "receipts remove",
  "receipts list --outcome lost",
  "receipts list --since yesterday",
  "receipts list --since 2026-02-30",
  "receipts refused --since 1804000000",
  "rewards balance @x",
])("%s is wrong usage: 2, with a hint at --help", async (words) => {
  expect(await api(words)).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/--help|Usage/) });
});

test.each(["--help", "receipts list --help", "receipts refused --help", "rewards list --help"])(
  "%s prints its help without a server",
  async (words) => {
    const ended = await api(words);
    expect(ended).toMatchObject({ code: 0, err: "", out: expect.stringContaining("Usage: api") });
    if (words !== "--help") expect(ended.out).toContain("$ pnpm api ");
  },
);

describe("beside a server on the embedded store, and after its stop", () => {
  let server: ServerProcess;
  const viewed = '{"event":"rewarded","user_tg_id":"42","event_id":"evt_1","code":"code1"}';
  beforeAll(async () => {
    await copyCluster(dataDir, { schema: "api", migrations });
    server = await startServer();
    for (const body of [viewed, viewed, viewed]) expect(await deliver(server.url, body)).toBe(200);
    expect(await deliver(server.url, '{"event":"rewarded","user_tg_id":"43"}')).toBe(200);
    expect(await deliver(server.url, '{"event":"rewarded","user_tg_id":44}')).toBe(400);
    expect(await deliver(server.url, viewed, "sha256=nonsense")).toBe(401);
    expect(await deliver(server.url, viewed, `sha256=${"0".repeat(64)}`)).toBe(401);
  });
  afterAll(async () => {
    server.child.kill("SIGTERM");
    // Until then PostgreSQL writes into the folder, which is removed.
    await server.end;
  });

  const outcomes = ["invalid", "unmatched", "credited"];

  test("the command line uses the socket in the data folder, without any secret", async () => {
    expect(await json("receipts list", apiProcess)).toMatchObject([
      { outcome: "invalid", reason: expect.stringContaining("user_tg_id"), event: null, userId: null },
      { outcome: "unmatched", reason: "no-event-id", event: "rewarded", userId: "43", amount: null },
      { outcome: "credited", reason: null, eventId: "evt_1", userId: "42", code: "code1", amount: 1, duplicates: 2 },
    ]);
    expect(await json("receipts list --outcome duplicate")).toMatchObject([{ eventId: "evt_1" }]);
    expect(await json("receipts list --user-id 43 --since 1h --limit 1")).toMatchObject([{ outcome: "unmatched" }]);
    expect(await json("receipts refused")).toMatchObject([
      { reason: "malformed-signature", refused: 1 },
      { reason: "wrong-signature", refused: 1 },
    ]);
    expect((await json("rewards list --user-id 42")).entries).toMatchObject([{ amount: 1, balance: 1 }]);
    expect(await json("rewards balance 42")).toEqual({ userId: "42", balance: 1 });
  });

  test("the command line says its version, that of the server, and which store both speak of", async () => {
    const version = expect.stringMatching(/^0\.1\.0\+[0-9a-f]{10}(-dirty)?( \(\d{4}-\d\d-\d\d\)\n)?$/);
    expect(await api("--version")).toMatchObject({ code: 0, out: version, err: "" });
    const { out } = await api("status --json");
    const store = { server: "socket", database: "postgres" };
    expect(JSON.parse(out)).toMatchObject({ version, commandLine: version, schema: "0003-tasks-validated", store });
  });

  test("people get a table, with the reasons and the number of unsigned webhooks", async () => {
    const { out } = await api("receipts list");
    expect(out).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +credited +– +rewarded +42 +code1 +1 +– +2 +\d{4}-.*evt_1$/m);
    expect(out).toContain("1 malformed-signature, 1 wrong-signature");
    expect(await api("receipts list --outcome refused")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^none\n/),
    });
  });

  test("the server's refusal is printed in its words", async () => {
    const ended = await api("rewards list --cursor nonsense");
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("not a cursor of this ledger") });
  });

  test("a user is counted, erased only with --yes, and gone afterwards", async () => {
    expect(
      await deliver(server.url, '{"event":"rewarded","user_tg_id":"99","event_id":"evt_99","code":"code99"}'),
    ).toBe(200);
    const counted = await api("users erase --user-id 99");
    expect(counted).toMatchObject({ code: 0, err: "", out: expect.stringMatching(/Nothing was changed\..*--yes\n$/) });
    expect(await json("rewards balance 99")).toEqual({ userId: "99", balance: 1 });
    expect(await api("users erase --user-id 99 --bot-id 7 --yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("--bot-id 7"),
    });
    expect(await json(`users erase --user-id 99 --bot-id ${testConfig.botId} --yes`)).toMatchObject({ isErased: true });
    expect(await json("rewards balance 99")).toEqual({ userId: "99", balance: 0 });
    expect(await api("users erase --user-id 99 --yes")).toMatchObject({ out: "nothing is kept of user 99\n" });
    expect((await json("receipts list --limit 1"))[0]).toMatchObject({ eventId: "evt_99", rawBody: "" });
  });

  test("after the server has stopped, the command line opens the store itself, also for several concurrent commands", {
    tags: "long",
  }, async () => {
    const received = await json("receipts list");
    expect(received.map(({ outcome }: { outcome: string }) => outcome).slice(-3)).toEqual(outcomes);
    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
    expect(await json("receipts list", apiProcess)).toEqual(received);
    const answers = await Promise.all([1, 2].map(() => apiProcess("rewards balance 42")));
    expect(answers).toEqual(Array(2).fill({ code: 0, out: "1\n", err: "" }));
    expect(await json("receipts refused", apiProcess)).toHaveLength(2);
  });

  test("a bot that is not in the store is an error", { tags: "long" }, async () => {
    expect(await apiProcess("rewards balance 42", { BOT_ID: "7000000002" })).toMatchObject({
      code: 3,
      out: "",
      err: expect.stringMatching(new RegExp(`has no bot 7000000002.*${testConfig.botId}`)),
    });
  });
});
