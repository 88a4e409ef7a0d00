import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "an-operators-token-of-some-length";

let store: TestDatabase;
let fixture: AppFixture;
let botId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  botId = (await fixture.newBot()).botId;
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

interface Answer {
  status: number;
  body: Record<string, unknown> & { updatedAt: string; error?: { code: string } };
}

async function call(method: "GET" | "PATCH", path = "", settings?: object): Promise<Answer> {
  const response = await fetch(`${fixture.address}/operator/v1/bots/${botId}${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: settings ? JSON.stringify(settings) : null,
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const show = async () => (await call("GET")).body;
const changeWhatWasRead = (updatedAt: string, settings: object) =>
  call("PATCH", `?expectedUpdatedAt=${encodeURIComponent(updatedAt)}`, settings);

describe("a bot that several people change", () => {
  test("of changes of the same values at the same moment one is made, and the others change nothing", async () => {
    for (let round = 0; round < 5; round++) {
      const { updatedAt } = await show();
      const all = Array.from({ length: 4 }, (_, one) => ({
        testers: [`${round + 1}${one}`],
        webhookUrl: `https://quiz.example/${round}/${one}`,
      }));
      const answers = await Promise.all(all.map((settings) => changeWhatWasRead(updatedAt, settings)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      const refused = answers.filter(({ status }) => status === 409);
      for (const { body } of refused) expect(body.error?.code).toBe("BOT_CHANGED");
      const made = all[answers.findIndex(({ status }) => status === 200)];
      expect(await show()).toMatchObject({ ...made });
    }
  });

  test("a change is a new version, also within a millisecond, and where the clock is behind", async () => {
    const text = "update bots set updated_at = now() + interval '1 day 30 microseconds' where bot_id = $1";
    await store.database.run({ name: "", text }, [botId]);
    const { updatedAt } = await show();
    const changed = await changeWhatWasRead(updatedAt, { dailyCap: 7 });
    expect(changed).toMatchObject({ status: 200, body: { dailyCap: 7 } });
    expect(Date.parse(changed.body.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
    expect(await changeWhatWasRead(updatedAt, { dailyCap: 8 })).toMatchObject({ status: 409 });
    expect(await changeWhatWasRead(changed.body.updatedAt, { dailyCap: 9 })).toMatchObject({ status: 200 });
  });

  test("a change that names no version is made, as from the command line", async () => {
    expect(await call("PATCH", "", { dailyCap: 11 })).toMatchObject({ status: 200, body: { dailyCap: 11 } });
  });
});
