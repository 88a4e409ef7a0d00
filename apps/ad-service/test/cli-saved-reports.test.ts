import { afterAll, beforeAll, expect, test } from "vitest";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { type CliFixture, openCliFixture } from "./fixtures/cli-fixture.ts";

let fixture: CliFixture;
let server: Awaited<ReturnType<CliFixture["startServer"]>>;
const email = "ann@ads.test";
const bots = [newTelegramId(), newTelegramId()] as const;

beforeAll(async () => {
  fixture = await openCliFixture();
  server = await fixture.startServer();
  for (const [n, botId] of bots.entries()) await fixture.ads(["bots", "add", "--bot-id", botId, "--name", `Bot ${n}`]);
  await fixture.ads(["people", "add", email, "--role", "analyst"]);
  await fixture.ads(["people", "add", "pia@ads.test", "--role", "publisher", "--bot-id", bots[1]]);
});
afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.end;
  await fixture.close();
});

const reports = (...words: string[]) => fixture.ads(["reports", ...words]);
const save = (person: string, name: string, search: string) =>
  reports("add", "--person", person, "--name", name, "--search", search, "--json");

test("a person's report is saved, listed, shown by name or id with its CSV, and removed", async () => {
  const saved = JSON.parse((await save(email, "Bots, 28 days", "range=28-days&by=bot&zone=Europe%2FBerlin")).out);
  expect(saved).toMatchObject({ name: "Bots, 28 days", mails: null });
  const listed = await reports("list", "--person", email);
  expect(listed).toMatchObject({ code: 0, err: "" });
  expect(listed.out).toContain(saved.savedReportId);
  expect(listed.out).toMatch(/Bots, 28 days +never/);
  const shown = await reports("show", "bots, 28 DAYS", "--person", email);
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toContain("days in Europe/Berlin");
  expect(shown.out).toMatch(/^BOT /m);
  const csv = await reports("show", saved.savedReportId, "--person", email, "--csv");
  expect(csv).toMatchObject({ code: 0, err: "" });
  expect(csv.out).toMatch(/^from,2\d{3}-[^\n]+\+0[12]:00\r\nto,/);
  expect(JSON.parse((await reports("show", saved.savedReportId, "--person", email, "--json")).out)).toMatchObject({
    by: "bot",
  });
  expect(await save(email, "bots, 28 days", "")).toMatchObject({
    code: 1,
    err: expect.stringContaining("choose another name"),
  });
  expect(await reports("remove", saved.savedReportId, "--person", email)).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse((await reports("list", "--person", email, "--json")).out)).toEqual([]);
});

test("a publisher's report is of the publisher's own bot, whatever it names", async () => {
  const search = `by=bot&bot=${bots[0]}`;
  expect((await save("pia@ads.test", "Mine", search)).code).toBe(0);
  const shown = JSON.parse((await reports("show", "Mine", "--person", "pia@ads.test", "--json")).out);
  expect(shown.of).toMatchObject({ bot: "Bot 1" });
});

test("its mails need a mail server, and are stopped", async () => {
  const { savedReportId } = JSON.parse((await save(email, "Week", "by=campaign")).out);
  const words = ["--person", email, "--every", "week", "--hour", "8", "--time-zone", "Europe/Berlin"];
  expect(await reports("mail", savedReportId, ...words)).toMatchObject({
    code: 1,
    err: expect.stringContaining("no mail server is set"),
  });
  expect(await reports("stop-mails", savedReportId, "--person", email)).toMatchObject({ code: 0, err: "" });
});

test("a person must be named, exist, and have the report", async () => {
  expect(await reports("list")).toMatchObject({ code: 2, err: expect.stringContaining("--person") });
  expect(await reports("list", "--person", "nobody@ads.test")).toMatchObject({
    code: 1,
    err: expect.stringContaining("nobody has the e-mail address nobody@ads.test"),
  });
  expect(await reports("show", "Other", "--person", email)).toMatchObject({
    code: 1,
    err: expect.stringContaining("has no saved report Other"),
  });
  expect(await reports("remove", "rep_unknown", "--person", email)).toMatchObject({
    code: 1,
    err: expect.stringContaining("no saved report"),
  });
});
