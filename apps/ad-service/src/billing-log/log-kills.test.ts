// @module-tag long
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { untilSettled } from "../../test/fixtures/settled-log.ts";
import { migrations } from "../migrations.ts";
import { readCurrentLog } from "./read-log.ts";

const verifier = fileURLToPath(new URL("../../../../clients/billing-log/verify.mjs", import.meta.url));
const script = fileURLToPath(new URL("../../test/fixtures/continue-log-process.ts", import.meta.url));
const encryptionKey = Buffer.alloc(32, 7);

/** Kills that must come between the commit of entries and that of their checkpoint. */
const KILLS_BETWEEN = 4;
const MAX_KILLS = 60;

test("a process that is killed between entries and checkpoint leaves a log that the next one goes on with", async () => {
  const { database, databaseUrl, dispose } = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(dispose);
  const run = <Row>(text: string, ...values: unknown[]) => database.run<Row>({ name: "", text }, values);
  const fixture = await openAppFixture(database, { encryptionKey });
  onTestFinished(() => fixture.close());
  const folder = await mkdtemp(join(tmpdir(), "intermission-kills-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await run("insert into deployment (currency) values ('USD')");
  await run("insert into bots (bot_id, code_prefix, name) values ('910', '0910', 'Quiz')");
  let billed = 0;
  const bill = async (count: number) => {
    billed += count;
    await run(
      `insert into events (event_id, code, bot_id, user_id, campaign_id, creative_id, event, price_micros, revenue_micros,
         occurred_at)
       select 'evt_' || n, n, '910', '1', 'cmp_1', 'cre_a', 'direct_link', 1500, 1000, '2026-03-01'
       from generate_series($1::integer, $2::integer) as n`,
      billed - count + 1,
      billed,
    );
  };
  const start = async () => {
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      MEDIA_FOLDER: fixture.mediaFolder,
      ENCRYPTION_KEY: encryptionKey.toString("base64"),
    };
    const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    return child;
  };

  const checkpoints = new Map<number, string>();
  const keepCheckpoint = async () => {
    const answer = await fetch(`${fixture.address}/log/checkpoint`);
    if (answer.status !== 200) return;
    const text = await answer.text();
    const size = Number(text.split("\n")[1]);
    expect(checkpoints.get(size) ?? text).toBe(text);
    checkpoints.set(size, text);
  };
  let between = 0;
  for (let kills = 0; between < KILLS_BETWEEN; kills++) {
    expect(kills, "kills without one between entries and checkpoint").toBeLessThan(MAX_KILLS);
    const child = await start();
    const killed = once(child, "exit");
    for (let batch = 0; batch < 4; batch++) {
      await bill(300);
      await keepCheckpoint();
      await wait(Math.random() * 30);
    }
    child.kill("SIGKILL");
    await killed;
    await keepCheckpoint();
    const { size = 0, publishedSize = 0 } = (await readCurrentLog(database)) ?? {};
    if (size > publishedSize) between++;
  }

  const child = await start();
  await untilSettled(database, async () => ({ hasMore: (await readCurrentLog(database))?.publishedSize !== billed }));
  child.kill("SIGKILL");
  await once(child, "exit");
  await keepCheckpoint();
  const log = await readCurrentLog(database);
  expect(log).toMatchObject({ logId: 1, size: billed, publishedSize: billed });
  const verify = async (...words: string[]) => {
    const keyed = [verifier, ...words, "--key", log?.verifierKey ?? ""];
    return (await promisify(execFile)(process.execPath, keyed)).stdout;
  };
  const address = `${fixture.address}/log`;
  const fileOf = async (size: number) => {
    await writeFile(join(folder, String(size)), checkpoints.get(size) ?? "");
    return join(folder, String(size));
  };
  expect(await verify("log", address)).toContain(`Its ${billed} entries are those that were signed`);
  const sizes = [...checkpoints.keys()].sort((a, b) => a - b);
  for (const size of sizes.slice(0, -1))
    expect(await verify("compare", await fileOf(size), await fileOf(billed), "--log", address)).toContain(
      `The tree of ${billed} entries begins with the tree of ${size} entries.`,
    );
});
