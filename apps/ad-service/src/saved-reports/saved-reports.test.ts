import type { AuditEntry } from "@intermission/operator-api/audit";
import { MAX_SAVED_REPORTS, type SavedReport } from "@intermission/operator-api/saved-reports";
import { secretBox as openSecretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { invitePerson, newPersonId } from "../people/people.ts";
import { openSession } from "../people/sessions.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
const cookies: Record<string, string> = {};
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  const { database } = store;
  const secretBox = openSecretBox(Buffer.alloc(32));
  for (const name of ["ann", "bob"]) {
    const [personId, { now }] = [newPersonId(), fixture.clock];
    await invitePerson(
      { database, secretBox },
      { personId, invitation: { email: `${name}@ads.test`, role: "analyst" }, now },
    );
    const { token } = await database.transaction((tx) => openSession(tx, { personId, now }));
    cookies[name] = `__Host-operator=${token}`;
  }
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function send(person: string, method: "GET" | "POST" | "DELETE", path = "", payload?: object) {
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1/saved-reports${path}`,
    headers: { cookie: cookies[person], origin: "http://ads.test" },
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}
const save = (person: string, name: string, search = "by=bot") => send(person, "POST", "", { name, search });
const namesOf = async (person: string, query = "") =>
  ((await send(person, "GET", query)).body.savedReports as SavedReport[]).map(({ name }) => name);

test("a report is kept by name for who saved it: others neither see nor remove it", async () => {
  const { status, body } = await save("ann", "Bots", "by=bot&compare=previous");
  expect(status).toBe(201);
  expect((await send("ann", "GET")).body.savedReports).toEqual([body]);
  expect(body).toMatchObject({ name: "Bots", search: "by=bot&compare=previous" });
  expect(await namesOf("bob")).toEqual([]);
  expect((await send("bob", "DELETE", `/${body.savedReportId}`)).status).toBe(404);
  expect((await save("bob", "Bots")).status).toBe(201);
  expect((await send("ann", "DELETE", `/${body.savedReportId}`)).body).toEqual(body);
  expect(await namesOf("ann")).toEqual([]);
  expect((await send("ann", "DELETE", `/${body.savedReportId}`)).status).toBe(404);
});

test("a name is used once in any case, and what is no query of an address is refused", async () => {
  await save("ann", "Weekly");
  expect(await save("ann", "WEEKLY")).toMatchObject({ status: 409, body: { error: { code: "REPORT_NAME_TAKEN" } } });
  for (const search of ["<script>", "javascript:alert(1)", "a b", "x".repeat(2049)])
    expect((await save("ann", "Other", search)).status, search).toBe(400);
  expect(await namesOf("ann")).toEqual(["Weekly"]);
});

test("the list has pages and a bound, also for requests at the same time", async () => {
  const saved = await Promise.all(Array.from({ length: MAX_SAVED_REPORTS + 5 }, (_, n) => save("ann", `Report ${n}`)));
  expect(saved.filter(({ status }) => status === 409)).toHaveLength(6);
  const all = await namesOf("ann");
  expect(all).toHaveLength(MAX_SAVED_REPORTS);
  const first = (await send("ann", "GET", "?limit=20")).body;
  expect(await namesOf("ann", `?after=${first.next}`)).toEqual(all.slice(20));
  expect((await send("ann", "GET", "?after=rep_none")).status).toBe(404);
});

test("the command line names whose reports it reads, and a session has only its own", async () => {
  const read = async (query: string, headers: Record<string, string>) => {
    const answer = await fixture.app.inject({ url: `/operator/v1/saved-reports${query}`, headers });
    return [answer.statusCode, answer.json().error?.message];
  };
  const token = { authorization: `Bearer ${operatorToken}` };
  expect(await read("", token)).toEqual([400, "email is needed: of whose reports?"]);
  expect(await read("?email=nobody@ads.test", token)).toEqual([
    404,
    "nobody has the e-mail address nobody@ads.test; see all with: people list",
  ]);
  const listed = await fixture.app.inject({ url: "/operator/v1/saved-reports?email=bob@ads.test", headers: token });
  expect(listed.json().savedReports).toMatchObject([{ name: "Bots" }]);
  // Even the own address: it is what a session cannot choose.
  for (const email of ["ann", "bob"]) expect((await send("bob", "GET", `?email=${email}@ads.test`)).status).toBe(400);
});

test("no other person and no token of a publisher reads or changes a person's reports by the e-mail address", async () => {
  const { token } = await fixture.newBot();
  const { savedReportId } = (await save("bob", "Private")).body;
  const query = "?email=bob@ads.test";
  for (const [method, path] of [
    ["GET", ""],
    ["POST", ""],
    ["DELETE", `/${savedReportId}`],
    ["PUT", `/${savedReportId}/mails`],
    ["DELETE", `/${savedReportId}/mails`],
  ] as const) {
    const body = { POST: { name: "Planted", search: "by=bot" }, PUT: { every: "day", hour: 8, timeZone: "UTC" } };
    const ask = (headers: Record<string, string>) =>
      fixture.app.inject({
        method,
        url: `/operator/v1/saved-reports${path}${query}`,
        headers,
        ...(method in body && { payload: body[method as keyof typeof body] }),
      });
    const asAnn = await ask({ cookie: `${cookies.ann}`, origin: "http://ads.test" });
    expect([asAnn.statusCode, asAnn.json().error.message], `${method} ${path}`).toEqual([
      400,
      "email is for the command line: a session has what is its person's own",
    ]);
    const asBot = await ask({ authorization: `Bearer ${token}` });
    expect(asBot.statusCode, `${method} ${path}`).toBe(401);
    expect(asBot.body).not.toContain("Private");
  }
  expect(await namesOf("bob")).toEqual(["Bots", "Private"]);
  // A report of another person is unknown to the command line, too, when it names the wrong one.
  const wrong = await fixture.app.inject({
    method: "DELETE",
    url: `/operator/v1/saved-reports/${savedReportId}?email=ann@ads.test`,
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  expect(wrong.statusCode).toBe(404);
});

test("what the command line changes of a person's reports is in the audit trail", async () => {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const url = "/operator/v1/saved-reports";
  const payload = { name: "By command", search: "by=bot" };
  const saved = await fixture.app.inject({ method: "POST", url: `${url}?email=bob@ads.test`, headers, payload });
  expect(saved.statusCode).toBe(201);
  const { savedReportId } = saved.json();
  const one = `${url}/${savedReportId}?email=bob@ads.test`;
  expect((await fixture.app.inject({ method: "DELETE", url: one, headers })).statusCode).toBe(200);
  const audit = await fixture.app.inject({ url: `/operator/v1/audit?objectId=${savedReportId}`, headers });
  const entries: AuditEntry[] = audit.json().entries;
  expect(entries.map(({ operation, actor }) => [operation, actor]).sort()).toEqual([
    ["removeSavedReport", "command-line"],
    ["saveReport", "command-line"],
  ]);
});
