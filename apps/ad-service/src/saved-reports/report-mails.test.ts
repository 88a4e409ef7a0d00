import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { secretBox as openSecretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { openMailServer } from "../../test/fixtures/mail-server.ts";
import { migrations } from "../migrations.ts";
import { invitePerson, newPersonId } from "../people/people.ts";
import { openSession } from "../people/sessions.ts";
import { reportsFromPrimary } from "../statistics/report-source.ts";
import { addDueMails, beginMail, claimMails, endSchedule } from "./report-mails.ts";
import { scheduleReport } from "./saved-reports.ts";
import { sendReportMails } from "./send-report-mails.ts";

let store: TestDatabase;
let fixture: AppFixture;
let nodes: readonly [Database, Database];
let mail: Awaited<ReturnType<typeof openMailServer>>;
const settings = () => ({
  smtpUrl: mail.url,
  smtpFrom: "ads@ads.test",
  telegramBotToken: undefined,
  telegramApiUrl: "",
});
const cookies: Record<string, string> = {};
const personIds: Record<string, string> = {};
const clock = { now: new Date("2026-03-10T12:00:00Z") };
const later = (minutes: number) => {
  clock.now = new Date(clock.now.getTime() + minutes * 60_000);
};
const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const options = { databaseUrl: store.databaseUrl, dataDirectory: "", schema: "ad_service", migrations };
  nodes = [await openDatabase(options), await openDatabase(options)];
  mail = await openMailServer();
  fixture = await openAppFixture(store.database, { operatorToken: "o".repeat(32), notices: settings() });
  await run("insert into bots (bot_id, code_prefix, name) values ('910', '0910', 'Quiz'), ('911', '0911', 'Chess')");
  for (const [name, role, botIds] of [
    ["ann", "analyst", []],
    ["pub", "publisher", ["910"]],
  ] as const) {
    const [personId, { now }] = [newPersonId(), fixture.clock];
    const secretBox = openSecretBox(Buffer.alloc(32));
    const invitation = { email: `${name}@ads.test`, role, botIds: [...botIds] };
    await invitePerson({ database: store.database, secretBox }, { personId, invitation, now });
    const { token } = await store.database.transaction((tx) => openSession(tx, { personId, now }));
    cookies[name] = `__Host-operator=${token}`;
    personIds[name] = personId;
  }
});
afterAll(async () => {
  await fixture.close();
  await mail.close();
  await Promise.all(nodes.map((node) => node.close()));
  await store.dispose();
});
beforeEach(() => {
  clock.now = new Date("2026-03-10T12:00:00Z");
  mail.received.length = 0;
  mail.state.isRefusing = false;
  mail.state.beforeAnswer = async () => {};
});
afterEach(async () => {
  await run("delete from saved_reports");
  await run("update people set is_disabled = false, role = 'analyst' where person_id = $1", personIds.ann);
});

async function send(person: string, method: "GET" | "POST" | "PUT" | "DELETE", path = "", payload?: object) {
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1/saved-reports${path}`,
    headers: { cookie: cookies[person], origin: "http://ads.test" },
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

/** A saved report that is due each day at noon UTC, for the first time tomorrow. */
async function mailed({
  person = "ann",
  name = "Bots",
  search = "range=yesterday&by=bot&zone=UTC",
  hasCsv = false,
} = {}) {
  const { savedReportId } = (await send(person, "POST", "", { name, search })).body;
  const body = { every: "day", hour: 12, timeZone: "UTC", hasCsv };
  const set = await send(person, "PUT", `/${savedReportId}/mails`, body);
  expect(set).toMatchObject({ status: 200, body: { mails: { ...body, ended: null, last: null } } });
  // PostgreSQL does not use the test's clock.
  await run("update report_schedules set next_at = '2026-03-11T12:00:00Z' where saved_report_id = $1", savedReportId);
  return savedReportId as string;
}
const warnings: string[] = [];
const round = (database: Database = nodes[0]) =>
  sendReportMails({
    database,
    reports: reportsFromPrimary(database),
    settings: settings(),
    consoleUrl: "https://ads.test/console",
    publicUrl: "https://ads.test",
    currency: "EUR",
    log: { warn: (_facts, text) => warnings.push(text), error: (facts, text) => expect([facts, text]).toEqual([]) },
    now: () => clock.now,
  });
const states = () =>
  run<{ state: string; attempts: number }>("select state, attempts from report_mails order by saved_report_id, day");
const mailsOf = async (savedReportId: string, person = "ann") =>
  (await send(person, "GET")).body.savedReports.find(
    (one: { savedReportId: string }) => one.savedReportId === savedReportId,
  ).mails;
const linkIn = (text = "") => /https:\/\/ads\.test(\/unsubscribe\/[\w-]+)/.exec(text.replaceAll("=3D", "="))?.[1] ?? "";

test("a report is mailed once in each period, by whichever of two nodes, with a link that needs a sign-in", async () => {
  await mailed();
  await round();
  expect(mail.received).toHaveLength(0);
  later(24 * 60);
  await Promise.all(Array.from({ length: 8 }, (_, n) => round(nodes[n % 2])));
  await Promise.all(nodes.map(round));
  expect(mail.received).toHaveLength(1);
  const [first] = mail.received;
  expect(first?.to).toEqual(["ann@ads.test"]);
  const text = first?.text.replaceAll("=3D", "=") ?? "";
  expect(text).toContain("Subject: Bots: 10 March 2026");
  expect(text).toContain("https://ads.test/console/reports?zone=UTC&by=bot&from=2026-03-10&to=2026-03-10");
  expect(text).not.toContain("text/csv");
  expect(text).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  // No node ran for days: only the latest due moment is mailed.
  later(3 * 24 * 60);
  await round();
  expect(mail.received).toHaveLength(2);
  expect(mail.received[1]?.text).toContain("13 March 2026");
});

test("the file is attached where it is chosen, of the own bots alone", async () => {
  await mailed({ person: "pub", name: "Mine", hasCsv: true });
  later(24 * 60);
  await round();
  const { text } = mail.received[0] ?? { text: "" };
  expect(text).toContain("report_2026-03-10_2026-03-10_UTC.csv");
  const [, file = ""] = text.split("Content-Disposition: attachment");
  const csv = Buffer.from(file.split("\r\n\r\n")[1] ?? "", "base64").toString();
  expect(csv).toContain("from,2026-03-10T00:00:00Z");
  expect(csv).toContain("revenue");
  expect(csv).not.toContain("spend");
});

test("a mail server that refuses a mail gets it again, and one mail arrives; another report does not wait for it", async () => {
  await mailed();
  await mailed({ person: "pub", name: "Other" });
  later(24 * 60);
  mail.state.isRefusing = true;
  await round();
  expect(mail.received).toHaveLength(0);
  mail.state.isRefusing = false;
  await round();
  expect(mail.received).toHaveLength(0);
  later(1);
  await Promise.all(nodes.map(round));
  expect(mail.received).toHaveLength(2);
  expect(await states()).toEqual([
    { state: "sent", attempts: 2 },
    { state: "sent", attempts: 2 },
  ]);
});

test("a mail that is refused again and again is given up, and the next period has its own", async () => {
  const id = await mailed();
  later(24 * 60);
  mail.state.isRefusing = true;
  for (let tries = 0; tries < 5; tries += 1) {
    await round();
    later(121);
  }
  expect(await mailsOf(id)).toMatchObject({ last: { state: "failed", error: expect.stringContaining("452") } });
  mail.state.isRefusing = false;
  later(24 * 60);
  await round();
  expect(mail.received).toHaveLength(1);
});

test("a node that dies before it sends loses nothing, and one that dies while it sends doubles nothing", async () => {
  const id = await mailed();
  later(24 * 60);
  mail.state.isRefusing = true;
  await round();
  mail.state.isRefusing = false;
  later(1);
  // A node claims the mail and dies.
  const [claimed] = await claimMails(nodes[0], clock.now);
  await round(nodes[1]);
  expect(mail.received).toHaveLength(0);
  later(11);
  await round(nodes[1]);
  expect(mail.received).toHaveLength(1);
  // The slow node finds that another node has taken the mail.
  if (claimed === undefined) throw new Error("nothing was claimed");
  expect(await beginMail(nodes[0], claimed, clock.now)).toBeUndefined();
  // The mail server accepts the mail, and the node dies before it stores that.
  later(24 * 60);
  await run("update report_schedules set next_at = $1", clock.now);
  mail.state.isRefusing = true;
  await round();
  mail.state.isRefusing = false;
  later(1);
  const [second] = await claimMails(nodes[0], clock.now);
  if (second === undefined) throw new Error("nothing was claimed");
  await beginMail(nodes[0], second, clock.now);
  later(11);
  await round(nodes[1]);
  expect(mail.received).toHaveLength(1);
  expect(await mailsOf(id)).toMatchObject({ last: { state: "unknown" } });
});

test("a connection that is lost while the mail server takes the message is not tried again", async () => {
  const id = await mailed();
  later(24 * 60);
  mail.state.isCutting = true;
  await round();
  mail.state.isCutting = false;
  later(60);
  await round();
  expect(mail.received).toHaveLength(0);
  expect(await mailsOf(id)).toMatchObject({ last: { state: "unknown" } });
});

test("it ends with the account, and where the person may not read the report any more as it was saved", async () => {
  const id = await mailed();
  await run("update people set is_disabled = true where person_id = $1", personIds.ann);
  later(24 * 60);
  await round();
  await run("update people set is_disabled = false where person_id = $1", personIds.ann);
  expect(await mailsOf(id)).toMatchObject({ nextAt: null, ended: "disabled" });
  const byBot = await mailed({ person: "pub", name: "Chess", search: "bot=911&zone=UTC" });
  await round();
  expect(await mailsOf(byBot, "pub")).toMatchObject({ nextAt: null, ended: "no-right" });
  later(48 * 60);
  await round();
  expect(mail.received).toHaveLength(0);
});

test("the right that ends between two tries ends the mail, too", async () => {
  const id = await mailed({ name: "Spend", search: "by=advertiser&zone=UTC" });
  later(24 * 60);
  mail.state.isRefusing = true;
  await round();
  mail.state.isRefusing = false;
  await run("update people set role = 'publisher', bot_ids = '{910}' where person_id = $1", personIds.ann);
  later(5);
  await round();
  await run("update people set role = 'analyst', bot_ids = '{}' where person_id = $1", personIds.ann);
  expect(mail.received).toHaveLength(0);
  expect(await mailsOf(id)).toMatchObject({ ended: "no-right", last: { state: "failed" } });
});

test("the link of a mail ends that report alone, without a sign-in, once its button is pressed", async () => {
  const id = await mailed();
  const other = await mailed({ name: "Other" });
  later(24 * 60);
  await round();
  expect(mail.received).toHaveLength(2);
  const [one] = mail.received.filter(({ text }) => text.includes("Subject: Bots"));
  const url = linkIn(one?.text);
  const question = await fixture.app.inject({ url, headers: { "accept-language": "ru" } });
  expect(question.body).toContain("Больше не получать этот отчёт?");
  expect(await mailsOf(id)).toMatchObject({ ended: null });
  // The request that a mail program posts.
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const done = await fixture.app.inject({ method: "POST", url, headers, payload: "List-Unsubscribe=One-Click" });
  expect([done.statusCode, done.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(await mailsOf(id)).toMatchObject({ nextAt: null, ended: "unsubscribed" });
  expect(await mailsOf(other)).toMatchObject({ ended: null });
  expect((await fixture.app.inject({ url })).body).toContain("You get it no more");
  const unknown = await fixture.app.inject({ method: "POST", url: "/unsubscribe/nobody" });
  expect([unknown.statusCode, unknown.body]).toEqual([404, expect.stringContaining("This link is not valid")]);
  later(24 * 60);
  mail.received.length = 0;
  await round();
  expect(mail.received.map(({ text }) => text.includes("Subject: Other"))).toEqual([true]);
});

test("another person neither mails nor stops a report, and one that is stopped sends nothing", async () => {
  const id = await mailed();
  const body = { every: "day", hour: 1, timeZone: "UTC" };
  expect((await send("pub", "PUT", `/${id}/mails`, body)).status).toBe(404);
  expect((await send("pub", "DELETE", `/${id}/mails`)).status).toBe(404);
  expect((await send("ann", "PUT", `/${id}/mails`, { ...body, timeZone: "Moon/Sea" })).status).toBe(400);
  expect((await send("ann", "DELETE", `/${id}/mails`)).body).toMatchObject({ mails: null });
  later(48 * 60);
  await round();
  expect(mail.received).toHaveLength(0);
});

test.each(["unsubscribed", "stopped"])(
  "a mail that the server refuses while its person has %s it is not tried again, also once it is mailed anew",
  async (how) => {
    const id = await mailed();
    later(24 * 60);
    mail.state.isRefusing = true;
    mail.state.beforeAnswer = async () => {
      if (how === "stopped") expect((await send("ann", "DELETE", `/${id}/mails`)).status).toBe(200);
      else expect(await endSchedule(store.database, { savedReportId: id, reason: "unsubscribed" })).toBe(true);
    };
    await round();
    mail.state.isRefusing = false;
    expect(await states()).toEqual([{ state: "failed", attempts: 1 }]);
    later(5);
    expect(await claimMails(nodes[0], clock.now)).toEqual([]);
    await send("ann", "PUT", `/${id}/mails`, { every: "month", hour: 12, timeZone: "UTC" });
    await round();
    expect(mail.received).toHaveLength(0);
  },
);

test("an end that waits for the node which makes the mail ends that mail, too", async () => {
  const id = await mailed();
  later(24 * 60);
  const made = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  const slow: Pick<Database, "transaction"> = {
    transaction: (work) =>
      nodes[0].transaction(async (tx) => {
        const result = await work(tx);
        made.resolve();
        await going.promise;
        return result;
      }),
  };
  const adding = addDueMails(slow, clock.now);
  await made.promise;
  const ending = endSchedule(nodes[1], { savedReportId: id, reason: "unsubscribed" });
  const waiting = () =>
    run("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
  await expect.poll(async () => (await waiting()).length).toBe(1);
  going.resolve();
  await adding;
  expect(await ending).toBe(true);
  expect(await states()).toEqual([{ state: "failed", attempts: 0 }]);
});

test("the page of a link says that a report which was stopped in the console is mailed no more", async () => {
  const id = await mailed();
  later(24 * 60);
  await round();
  const url = linkIn(mail.received[0]?.text);
  expect((await fixture.app.inject({ url })).body).toContain("Get this report no more?");
  await send("ann", "DELETE", `/${id}/mails`);
  expect((await fixture.app.inject({ url })).body).toContain("You get it no more");
});

test("times that are changed on a day which has had its mail begin on the day after, and that mail arrives", async () => {
  const { savedReportId } = (await send("ann", "POST", "", { name: "Bots", search: "zone=UTC" })).body;
  const own = { savedReportId, personId: personIds.ann ?? "" };
  const mailFrom = async (hour: number, now: string) => {
    const times = { every: "day" as const, hour, timeZone: "UTC", hasCsv: false };
    return (await scheduleReport(store.database, { ...own, now: new Date(now) }, times))?.mails?.nextAt?.toISOString();
  };
  expect(await mailFrom(8, "2026-03-10T07:00Z")).toBe("2026-03-10T08:00:00.000Z");
  clock.now = new Date("2026-03-10T08:00:00Z");
  await round();
  expect(mail.received).toHaveLength(1);
  expect(await mailFrom(14, "2026-03-10T10:00Z")).toBe("2026-03-11T14:00:00.000Z");
  // The person stops and restarts the mails while the day's mail waits.
  clock.now = new Date("2026-03-11T14:00:00Z");
  mail.state.isRefusing = true;
  await round();
  mail.state.isRefusing = false;
  await scheduleReport(store.database, { ...own, now: clock.now }, null);
  expect(await mailFrom(16, "2026-03-11T15:00Z")).toBe("2026-03-12T16:00:00.000Z");
  clock.now = new Date("2026-03-12T16:00:00Z");
  await round();
  expect(mail.received).toHaveLength(2);
});

test.each([
  ["zone=UTC", "2026-03-05", "2026-03-11"],
  ["zone=UTC&range=today", "2026-03-11", "2026-03-11"],
  ["zone=UTC&range=28-days", "2026-02-12", "2026-03-11"],
  ["zone=UTC&range=yesterday", "2026-03-11", "2026-03-11"],
])("at midnight the mail and the file of %s are of the same days, which are over", async (search, from, to) => {
  const id = await mailed({ search, hasCsv: true });
  await run("update report_schedules set hour = 0, next_at = '2026-03-12T00:00Z' where saved_report_id = $1", id);
  clock.now = new Date("2026-03-12T00:00:00Z");
  await round();
  const text = mail.received[0]?.text.replaceAll("=3D", "=") ?? "";
  expect(text).toContain(`from=${from}&to=${to}`);
  expect(text).toContain(`report_${from}_${to}_UTC.csv`);
});
