import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { untilFeedsAreCurrent } from "@intermission/testing/settled-feed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClientFixture, openClientFixture } from "../../test/fixtures/client-fixture.ts";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";

/** The recipe in `docs/webhooks.md` by which publishers miss no event, run against the service. */
const example = join(import.meta.dirname, "../../../../docs/webhooks/record-events.ts");
const scratch = join(tmpdir(), `intermission-feed-${randomUUID()}`);
beforeAll(() => void mkdirSync(scratch));

let fixture: ClientFixture;
beforeAll(async () => {
  // The key with which the delivery fixture seals its tokens.
  fixture = await openClientFixture({ encryptionKey: Buffer.alloc(32, 7) });
});
afterAll(async () => {
  await fixture.close();
  rmSync(scratch, { recursive: true, force: true });
});

async function recordEvents(token: string): Promise<string[]> {
  const env = {
    AD_SERVICE_URL: fixture.address,
    AD_API_TOKEN: token,
    CURSOR_FILE: join(scratch, "cursor"),
    PAGE_SIZE: "2",
  };
  const { stdout } = await promisify(execFile)(process.execPath, [example], { env: { ...process.env, ...env } });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).event_id]));
}

test("the documented recipe records every event once, page by page, and survives a refusal", async () => {
  const bot = await openDeliveryFixture(fixture.database, { webhookUrl: null });
  expect(await recordEvents(bot.token)).toEqual([]);
  const early = await bot.enqueue(5);
  await untilFeedsAreCurrent(fixture.database);
  expect((await recordEvents(bot.token)).sort()).toEqual(early.sort());
  expect(await recordEvents(bot.token)).toEqual([]);
  const late = await bot.enqueue();
  await untilFeedsAreCurrent(fixture.database);
  await expect(recordEvents("ad_nobody")).rejects.toThrow("answered 401");
  expect(await recordEvents(bot.token)).toEqual(late);
});
