import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "o".repeat(32);
const origin = "http://ads.test";
const password = "correct horse battery";
let store: TestDatabase;
let fixture: AppFixture;
let people = 0;
let email: string;
let personId: string;
let secret: Secret;
const lines: string[] = [];

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const log = (line: string) => void lines.push(line);
  fixture = await openAppFixture(store.database, { operatorToken, trustProxy: ["127.0.0.1"] }, { log });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

interface Options {
  cookie?: string | undefined;
  address?: string;
  isOperator?: boolean;
}

async function send(
  name:
    | "signIn"
    | "showSession"
    | "signOut"
    | "signOutEverywhere"
    | "acceptInvitation"
    | "openInvitation"
    | "invitePerson"
    | "createSignInLink"
    | "openSignInLink",
  payload: object | undefined,
  options: Options = {},
) {
  const { method, path } = operatorRoutes[name];
  const { cookie, address = `203.0.113.${people}`, isOperator = false } = options;
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1${path}`,
    headers: {
      origin,
      "x-forwarded-for": address,
      ...(cookie !== undefined && { cookie }),
      ...(isOperator && { authorization: `Bearer ${operatorToken}` }),
    },
    ...(payload !== undefined && { payload }),
  });
  const set = String(answer.headers["set-cookie"] ?? "");
  return {
    status: answer.statusCode,
    body: answer.json() as Record<string, unknown>,
    set,
    cookie: set.split(";")[0] ?? "",
  };
}

const codeAt = (seconds = 0) =>
  new TOTP({ secret }).generate({ timestamp: fixture.clock.now.getTime() + seconds * 1000 });
const later = (seconds: number) => {
  fixture.clock.now = new Date(fixture.clock.now.getTime() + seconds * 1000);
};
const signIn = (changes: object = {}, options?: Options) =>
  send("signIn", { email, password, code: codeAt(), ...changes }, options);

async function invite() {
  people += 1;
  email = `person${people}@ads.test`;
  const { body } = await send("invitePerson", { email, role: "ad-ops" }, { isOperator: true });
  ({ personId } = body.person as { personId: string });
  return String(body.link).split("#")[1] ?? "";
}

/** A person who has accepted the invitation, whose code of that moment is used up. */
beforeEach(async () => {
  const token = await invite();
  const opened = await send("openInvitation", { token });
  secret = Secret.fromBase32(String(opened.body.totpSecret));
  expect((await send("acceptInvitation", { token, password, code: codeAt() })).status).toBe(200);
  later(60);
});

test("the cookie of a session is for this host alone, out of reach of scripts and of other sites", async () => {
  const { status, set } = await signIn();
  expect(status).toBe(200);
  expect(set).toMatch(/^__Host-operator=[\w-]{43}; Path=\/; Expires=[^;]+; Secure; HttpOnly; SameSite=Strict$/);
});

test("the store holds no token, password or authenticator's secret in clear", async () => {
  const { cookie } = await signIn();
  const token = cookie.split("=")[1] ?? "";
  const rows = await store.database.run<{ row: string }>(
    {
      name: "",
      text: "select people::text as row from people union all select person_sessions::text from person_sessions",
    },
    [],
  );
  const all = rows.map(({ row }) => row).join("\n");
  for (const clear of [
    token,
    Buffer.from(token).toString("hex"),
    password,
    secret.base32,
    Buffer.from(secret.base32).toString("hex"),
  ])
    expect(all).not.toContain(clear);
  expect(all).toContain("$argon2id$v=19$m=19456,t=2,p=1$");
  expect(lines.join("\n")).not.toContain(token);
});

test("the trail names who signed in by the e-mail address", async () => {
  await signIn();
  const text = `select distinct operation, actor_name as "actorName" from audit_entries where actor = $1 order by 1`;
  expect(await store.database.run({ name: "", text }, [personId])).toEqual([
    { operation: "acceptInvitation", actorName: email },
    { operation: "signIn", actorName: email },
  ]);
});

test.each([
  ["password", { password: "another horse battery" }],
  ["code", { code: "000000" }],
  ["e-mail address", { email: "nobody@ads.test" }],
])("a wrong %s is refused, and nothing says what was wrong", async (_, changes) => {
  const { status, body, set } = await signIn(changes);
  expect({ status, body, set }).toEqual({
    status: 401,
    body: { error: { code: "NOT_SIGNED_IN", message: "the e-mail address, the password or the code is wrong" } },
    set: "",
  });
});

test("a code of the authenticator is accepted once, also by two requests at the same time", async () => {
  const code = codeAt();
  const both = await Promise.all([signIn({ code }), signIn({ code })]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect((await signIn({ code })).status).toBe(401);
  // An earlier code that is still within the window is not accepted after a later one.
  expect((await signIn({ code: codeAt(-30) })).status).toBe(401);
  later(30);
  expect((await signIn()).status).toBe(200);
});

test("a session that was planted in the browser is not the one of the person who signs in", async () => {
  const planted = (await signIn()).cookie;
  later(30);
  const { cookie } = await signIn({}, { cookie: planted });
  expect(cookie).not.toBe(planted);
  expect((await send("showSession", undefined, { cookie: planted })).status).toBe(401);
  expect((await send("showSession", undefined, { cookie })).body).toMatchObject({
    person: { personId, isSignedIn: true },
  });
  expect((await send("showSession", undefined, { cookie: `__Host-operator=${"x".repeat(43)}` })).status).toBe(401);
});

test("a stolen cookie is worth nothing after signing out, here or everywhere", async () => {
  const { cookie: first } = await signIn();
  later(30);
  const { cookie: second } = await signIn();
  expect((await send("signOut", undefined, { cookie: first })).body).toEqual({ ended: 1 });
  expect((await send("showSession", undefined, { cookie: first })).status).toBe(401);
  expect((await send("showSession", undefined, { cookie: second })).status).toBe(200);
  later(30);
  const { cookie: third } = await signIn();
  await send("signOutEverywhere", undefined, { cookie: second });
  for (const cookie of [second, third]) expect((await send("showSession", undefined, { cookie })).status).toBe(401);
});

test("a session ends after a day without use, and after a week in any case", async () => {
  const { cookie } = await signIn();
  const hours: number[] = [];
  for (let hour = 20; hour <= 8 * 24; hour += 20) {
    later(20 * 3600);
    if ((await send("showSession", undefined, { cookie })).status === 200) hours.push(hour);
  }
  expect(hours.at(-1)).toBe(160);
  const { cookie: idle } = await signIn();
  later(25 * 3600);
  expect((await send("showSession", undefined, { cookie: idle })).status).toBe(401);
});

test("guesses of a password end after ten, and do not lock its owner out of a known address", async () => {
  const guess = (n: number) => signIn({ password: `guess number ${n} of many` }, { address: `198.51.100.${n}` });
  const statuses = [];
  for (let n = 1; n <= 12; n++) statuses.push((await guess(n)).status);
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
  expect(statuses.slice(10)).toEqual([429, 429]);
  // The right password from an unknown address has to wait too, or the limit would be none.
  expect((await signIn({}, { address: "198.51.100.99" })).status).toBe(429);
  expect((await signIn()).status).toBe(200);
});

test("one address tries at most twenty times, over all accounts and invitations", async () => {
  const address = "2001:db8::1";
  const statuses: number[] = [];
  for (let n = 0; n < 20; n++) {
    statuses.push((await send("openInvitation", { token: "A".repeat(43) }, { address })).status);
  }
  expect(statuses).toEqual(Array(20).fill(404));
  // Another address of the same /64.
  expect((await signIn({}, { address: "2001:db8::2" })).status).toBe(429);
});

test("an invitation is used once, also by two requests at the same time, and expires", async () => {
  const token = await invite();
  const { body } = await send("openInvitation", { token });
  secret = Secret.fromBase32(String(body.totpSecret));
  const accept = (changes: object = {}) => send("acceptInvitation", { token, password, code: codeAt(), ...changes });
  expect((await accept({ code: "000000" })).status).toBe(400);
  expect((await accept({ password: "short" })).status).toBe(400);
  const both = await Promise.all([accept(), accept()]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect((await send("openInvitation", { token })).status).toBe(404);
  const late = await invite();
  later(3 * 24 * 3600 + 1);
  expect((await send("openInvitation", { token: late })).status).toBe(404);
});

test("a link of the command line signs in once, also with two requests at the same time, and expires", async () => {
  const link = async () => {
    const { body } = await send("createSignInLink", { email }, { isOperator: true });
    return String(body.link).split("#")[1] ?? "";
  };
  const replaced = await link();
  const token = await link();
  expect((await send("openSignInLink", { token: replaced })).status).toBe(404);
  const both = await Promise.all([send("openSignInLink", { token }), send("openSignInLink", { token })]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
  const { cookie } = both.find(({ status }) => status === 200) ?? { cookie: "" };
  expect((await send("showSession", undefined, { cookie })).body).toMatchObject({ person: { personId } });
  // A session cannot make a link, not even for its own person: only the command line can.
  expect((await send("createSignInLink", { email }, { cookie })).status).toBe(403);
  const late = await link();
  later(3601);
  expect((await send("openSignInLink", { token: late })).status).toBe(404);
  expect(lines.join("\n")).not.toContain(token);
});
