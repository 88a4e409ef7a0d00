import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { openMailServer } from "../../test/fixtures/mail-server.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "operator-token-of-32-characters-or-more";
let store: TestDatabase;
let fixture: AppFixture;
let mail: Awaited<ReturnType<typeof openMailServer>>;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  mail = await openMailServer();
  const notices = { smtpUrl: mail.url, smtpFrom: "ads@ads.test", telegramBotToken: undefined, telegramApiUrl: "" };
  fixture = await openAppFixture(store.database, { operatorToken, notices });
});
afterAll(async () => {
  await fixture.close();
  await mail.close();
  await store.dispose();
});

async function post(path: string, body?: object) {
  const answer = await fetch(`${fixture.address}/operator/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as { link: string; isMailed: boolean; person: { personId: string } };
}

test("an invitation is mailed with its link; if the mail server refuses it, the answer says so", async () => {
  const made = await post("/people", { email: "ann@ads.test", role: "analyst" });
  expect(made.isMailed).toBe(true);
  const [first] = mail.received;
  expect(first?.to).toEqual(["ann@ads.test"]);
  expect(first?.text.replaceAll("=3D", "=")).toContain(made.link);
  expect(first?.text).toContain("Subject: Your invitation to the console");
  // Who has an account is told that it opens in another way now.
  const { personId } = made.person;
  const text = "update people set password_hash = 'hash', invitation_hash = null where person_id = $1";
  await store.database.run({ name: "", text }, [personId]);
  expect((await post(`/people/${personId}/invitation`)).isMailed).toBe(true);
  expect(mail.received.at(-1)?.text).toContain("Subject: Choose a new way to sign in");
  mail.state.isRefusing = true;
  const anew = await post(`/people/${made.person.personId}/invitation`);
  expect([anew.isMailed, mail.received.length]).toEqual([false, 2]);
  expect(anew.link).toMatch(/\/console\/invitation#/);
});
