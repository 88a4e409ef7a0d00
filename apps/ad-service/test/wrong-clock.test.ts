import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServerDatabase, openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { sweepViews } from "../src/views/sweep-views.ts";
import { openCliFixture } from "./fixtures/cli-fixture.ts";
import { openViewerFixture } from "./fixtures/viewer-fixture.ts";

const day = 86_400_000;
const ann = "501";

test("a node whose clock is ten days ahead issues codes by the database's time, and its start and /readyz name the difference", {
  tags: "long",
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "wrong-clock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = join(folder, "ahead.mjs");
  writeFileSync(
    clock,
    `const Right = Date;
       globalThis.Date = class extends Right {
         constructor(...words) { if (words.length === 0) super(Date.now()); else super(...words); }
         static now() { return Right.now() + ${10 * day}; }
       };`,
  );
  writeFileSync(join(folder, "index.html"), "<title>mini-app</title>");
  const server = await createServerDatabase();
  onTestFinished(server.drop);
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  const env = { DATABASE_URL: server.url, MINIAPP_DIR: folder, ENCRYPTION_KEY: fixture.encryptionKey };
  const { child, ended, end } = await fixture.startServer({ ...env, NODE_OPTIONS: `--import=${clock}` });
  expect(ended.out).toMatch(/"this machine's clock is 86\d{4} s ahead of the database's/);
  onTestFinished(() => void child.kill("SIGKILL"));
  const added = await fixture.ads(["bots", "add", "--bot-id", "7000000001", "--name", "Bot"], {
    ADS_URL: fixture.address,
    OPERATOR_TOKEN: fixture.operatorToken,
  });
  expect(added.code).toBe(0);
  const token = await fixture.ads(["tokens", "create", "--bot-id", "7000000001", "--json"], {
    ADS_URL: fixture.address,
    OPERATOR_TOKEN: fixture.operatorToken,
  });
  const response = await fetch(`${fixture.address}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${JSON.parse(token.out).token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: "7000000001", user_tg_id: ann }),
  });
  const { expires_at: expiresAt } = (await response.json()) as { expires_at: string };
  expect(Math.abs(Date.parse(expiresAt) - Date.now() - 3_600_000)).toBeLessThan(30_000);
  const ready = await fetch(`${fixture.address}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    {
      status: "ready",
      version: expect.any(String),
      warning: expect.stringMatching(/^this machine's clock is 86\d{4} s ahead of the database's/),
    },
  ]);
  child.kill("SIGTERM");
  await end;
});

test("views that a wrong clock began and paid lock their viewer out neither by cooldown nor by cap", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(() => store.dispose());
  const fixture = await openViewerFixture(store.database, { cooldownSeconds: 300, dailyCap: 2 });
  onTestFinished(() => fixture.close());
  const begin = async (reference: string) => {
    const view = await fixture.begin(ann, await fixture.issue(ann, reference));
    await fixture.report(view, { started: true });
    return view;
  };
  fixture.advance((10 * day) / 1000);
  const paid = await begin("fast");
  await fixture.play(paid, 0, 10);
  expect((await fixture.report(paid, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
  fixture.advance(600);
  const begun = await begin("fast-2");
  // The clock is set right.
  fixture.advance((-10 * day) / 1000);
  const next = await begin("right");
  await fixture.play(next, 0, 10);
  expect((await fixture.report(next, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
  // The cooldown counts again.
  expect((await fixture.open(ann, await fixture.issue(ann, "soon"))).body).toMatchObject({ reason: "cooldown" });
  fixture.advance(301);
  // A view that began under the wrong clock can be finished.
  await fixture.play(begun, 0, 11);
  await fixture.report(begun, { closed: "tap" });
  await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
  expect(await fixture.events()).toHaveLength(3);
});
