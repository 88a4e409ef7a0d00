import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { settleUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { untilSettled } from "../../test/fixtures/settled-log.ts";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { folderStorage } from "../creatives/media-storage.ts";
import { migrations } from "../migrations.ts";
import { issueStatements } from "../money/statements.ts";
import { eraseUser } from "../users/erase-user.ts";
import { viewPlayerRoutes } from "../views/player-routes.ts";
import { continueLog } from "./publish-log.ts";

const verifier = fileURLToPath(new URL("../../../../clients/billing-log/verify.mjs", import.meta.url));
const operatorToken = "o".repeat(32);

let store: TestDatabase;
let views: ViewFixture;
let app: AppFixture;
let folder: string;
const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  await run("insert into deployment (currency) values ('USD')");
  folder = await mkdtemp(join(tmpdir(), "intermission-samples-"));
  views = await openViewFixture(store.database, viewPlayerRoutes);
  app = await openAppFixture(store.database, { operatorToken });
});
afterAll(async () => {
  await app.close();
  await views.close();
  await store.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function watch(userId: string): Promise<void> {
  const opened = await views.begin(userId);
  await views.play(opened, 0, 10);
  expect((await views.report(opened, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
}

async function get(path: string): Promise<string> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const answer = await fetch(`${app.address}/operator/v1${path}`, { headers });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text;
}

async function fileOf(text: string): Promise<string> {
  const path = join(folder, randomUUID());
  await writeFile(path, text);
  return path;
}

/** What verify.mjs says of the samples. */
async function verify(samples: string, proof: string, telegramKey = views.telegramKey): Promise<string> {
  const { verifierKey } = JSON.parse(await get("/billing-log"));
  const files = [await fileOf(samples), await fileOf(proof)];
  const words = [verifier, "samples", ...files, "--key", verifierKey, "--telegram-key", telegramKey];
  return promisify(execFile)(process.execPath, words).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

test("the checkpoint draws views of a statement, whose launches Telegram has signed; an erased user is gone and the log stays", async () => {
  for (const userId of ["501", "502", "503", "504"]) await watch(userId);
  const [{ kept } = { kept: 0 }] = await run<{ kept: number }>("select count(*) as kept from view_launches");
  expect(kept).toBe(4);
  await settleUntilNow(store.database);
  await run("update money_progress set settled_until = '2026-04-02'");
  await issueStatements(store.database);
  const deps = {
    database: store.database,
    secretBox: app.secretBox,
    media: folderStorage(app.mediaFolder),
    publicUrl: "http://ads.test",
    log: app.app.log,
  };
  await untilSettled(store.database, () => continueLog(deps));
  const [{ number } = { number: 0 }] = await run<{ number: number }>(
    "select number from money_statements where starts_with(account, 'advertiser:')",
  );
  const statement = `/money/advertisers/adv_intermission/statements/${number}`;
  const proof = await get(`${statement}/proof`);
  const draw = () => get(`${statement}/samples?size=4&count=3`);
  const samples = await draw();
  const right = await verify(samples, proof);
  expect(right).toContain("The 3 samples are those that the checkpoint draws.");
  expect(right).toContain("3 of them were opened by a user whom Telegram has signed for.");
  expect(right).not.toContain("DOES NOT HOLD");

  const file = JSON.parse(samples);
  const changed = (change: (samples: Record<string, string>[]) => void) => {
    const copy = structuredClone(file);
    change(copy.samples);
    return verify(JSON.stringify(copy), proof);
  };
  expect(await changed((all) => all.pop())).toContain("The samples are not those that the checkpoint draws.");
  const other = await changed(([first]) => {
    if (first) first.initData = `${first.initData}&other=1`;
  });
  expect(other).toContain("is not what its entry has the hash of");
  const telegram = "e7bf03a2fa4602af4580703d88dda5bb59f32ed8b02a56c187fe7d34caed242d";
  expect(await verify(samples, proof, telegram)).toContain("is not signed by Telegram");

  const [drawn] = file.samples;
  const erased = JSON.parse(new URLSearchParams(drawn.initData).get("user") ?? "{}").id;
  await eraseUser(store.database, { botId: views.botId, userId: String(erased), isMeant: true });
  const after = await draw();
  expect(after).not.toContain(drawn.salt);
  const said = await verify(after, await get(`${statement}/proof`));
  expect(said).toContain("2 of them were opened by a user whom Telegram has signed for.");
  expect(said).toContain("1 are gone: their users were erased");
  expect(said).not.toContain("DOES NOT HOLD");
});
