import { afterAll, beforeAll, expect, test } from "vitest";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { type CliFixture, openCliFixture } from "./fixtures/cli-fixture.ts";

let fixture: CliFixture;
let server: Awaited<ReturnType<CliFixture["startServer"]>>;
const botId = newTelegramId();
const ann = "730046005551";

beforeAll(async () => {
  fixture = await openCliFixture();
  server = await fixture.startServer();
});
afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.end;
  await fixture.close();
});

test("a user is counted, erased only with --yes, and gone afterwards", async () => {
  const { token } = JSON.parse((await fixture.ads(["bots", "add", "--bot-id", botId, "--json"])).out);
  const response = await fetch(`${fixture.address}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: botId, user_tg_id: ann, reference: "order-7" }),
  });
  const { code } = (await response.json()) as { code: string };
  const shown = await fixture.ads(["users", "show", "--bot-id", botId, "--user-id", ann]);
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toMatch(new RegExp(`^[0-9: Z-]+ code-issued .*reference order-7 .*${code}`, "m"));
  const ofCode = await fixture.ads(["codes", "show", code, "--json"]);
  expect(JSON.parse(ofCode.out)).toMatchObject({ botId, userId: ann, entries: [{ step: "code-issued", code }] });
  expect((await fixture.ads(["codes", "show", "nothing"])).err).toContain("there is no such code");

  const erase = (...more: string[]) => fixture.ads(["users", "erase", "--bot-id", botId, "--user-id", ann, ...more]);

  const counted = await erase();
  expect(counted).toMatchObject({ code: 0, err: "" });
  expect(counted.out).toMatch(/^current_codes +1 +deleted$/m);
  expect(counted.out).toMatch(/^Nothing was changed\..*--yes$/m);
  expect(JSON.parse((await erase("--json")).out)).toMatchObject({
    isErased: false,
    tables: [{ rows: 1 }, { rows: 1 }],
  });

  expect(JSON.parse((await erase("--yes", "--json")).out)).toMatchObject({ isErased: true, undelivered: 0 });
  expect(await erase()).toMatchObject({ code: 0, out: `nothing is kept of user ${ann}\n` });
  expect(await erase("--yes")).toMatchObject({ code: 0, out: `nothing is kept of user ${ann}\n` });
  // The link that the user may still have earns nothing.
  expect(
    (await fetch(`${fixture.address}/${code}`, { headers: { "user-agent": "Mozilla/5.0 (X11) Firefox/140.0" } }))
      .status,
  ).toBe(410);
});

test.each([
  [["--user-id", ann], 2, "--bot-id"],
  [["--bot-id", "7"], 2, "--user-id"],
  [["--bot-id", "4242424242", "--user-id", ann], 1, "there is no bot 4242424242"],
  [["--bot-id", "x", "--user-id", ann], 2, "Telegram id"],
])("users erase %j ends with %i", async (words, code, message) => {
  expect(await fixture.ads(["users", "erase", ...words])).toMatchObject({
    code,
    err: expect.stringContaining(message),
  });
});
