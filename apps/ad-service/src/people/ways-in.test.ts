import { argon2Sync, randomBytes } from "node:crypto";
import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let people = 0;
let email: string;
let personId: string;
let invitation: string;
let secret: Secret;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken, trustProxy: ["127.0.0.1"] });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

/** Sent by the command line, which is signed in by its token. */
async function send(name: keyof typeof operatorRoutes, payload?: object, cookie = "") {
  const { method, path } = operatorRoutes[name];
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1${path.replace(":personId", personId)}`,
    headers: {
      origin: "http://ads.test",
      "x-forwarded-for": `203.0.113.${people}`,
      ...(cookie === "" ? { authorization: `Bearer ${operatorToken}` } : { cookie }),
    },
    ...(payload !== undefined && { payload }),
  });
  const body = answer.json() as { link?: string; totpSecret?: string; person?: { personId: string } };
  return { status: answer.statusCode, body, cookie: String(answer.headers["set-cookie"] ?? "").split(";")[0] ?? "" };
}

const tokenOf = ({ link = "" }: { link?: string }) => link.split("#")[1] ?? "";
const code = () => new TOTP({ secret }).generate({ timestamp: fixture.clock.now.getTime() });
const later = (seconds: number) => {
  fixture.clock.now = new Date(fixture.clock.now.getTime() + seconds * 1000);
};

beforeEach(async () => {
  people += 1;
  email = `person${people}@ads.test`;
  const invited = await send("invitePerson", { email, role: "ad-ops" });
  personId = String(invited.body.person?.personId);
  invitation = tokenOf(invited.body);
  const opened = await send("openInvitation", { token: invitation });
  secret = Secret.fromBase32(String(opened.body.totpSecret));
});

async function accept(password: string): Promise<string> {
  const accepted = await send("acceptInvitation", { token: invitation, password, code: code() });
  expect(accepted.status).toBe(200);
  later(60);
  return accepted.cookie;
}

const signInLink = async () => tokenOf((await send("createSignInLink", { email })).body);
const statusOfLink = async (token: string) => (await send("openSignInLink", { token })).status;

describe("a link that was made before", () => {
  const ends: Record<string, (cookie: string) => Promise<unknown>> = {
    "a new invitation": () => send("renewInvitation"),
    "disabling and enabling the person": async () => {
      await send("disablePerson");
      return send("enablePerson");
    },
    "another role": () => send("changeRole", { role: "analyst" }),
    "signing out everywhere": (cookie) => send("signOutEverywhere", undefined, cookie),
  };
  test.for(Object.entries(ends))("signs nobody in after %s", async ([, end]) => {
    const cookie = await accept("correct horse battery");
    const token = await signInLink();
    await end(cookie);
    expect(await statusOfLink(token)).toBe(404);
    expect(await statusOfLink(await signInLink())).toBe(200);
  });

  test("invites nobody after the person was disabled and enabled, or invited anew", async () => {
    await send("disablePerson");
    await send("enablePerson");
    expect((await send("openInvitation", { token: invitation })).status).toBe(404);
    const renewed = tokenOf((await send("renewInvitation")).body);
    expect((await send("openInvitation", { token: renewed })).status).toBe(200);
    await send("renewInvitation");
    expect((await send("openInvitation", { token: renewed })).status).toBe(404);
  });
});

describe("a password", () => {
  const forms = ["NFC", "NFD", "NFKC", "NFKD"] as const;
  const typed = "Пароль café ﬁn Ａ１ 2024";
  const signIn = async (password: string) => {
    later(60);
    return (await send("signIn", { email, password, code: code() })).status;
  };

  test.for(forms)("set in %s opens in each form of Unicode", async (form) => {
    await accept(typed.normalize(form));
    for (const other of forms) expect(await signIn(typed.normalize(other))).toBe(200);
    expect(await signIn(typed.replace("é", "e"))).toBe(401);
  });

  test("whose hash is of the form in which it was typed opens in it, and from then on in each", {
    tags: "long",
  }, async () => {
    await accept(typed);
    const nonce = randomBytes(16);
    const message = typed.normalize("NFD");
    const tag = argon2Sync("argon2id", { message, nonce, parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 });
    const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString("base64").replace(/=+$/, ""));
    const stored = `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${hash}`;
    const set = { name: "", text: "update people set password_hash = $2 where person_id = $1" };
    await store.database.run(set, [personId, stored]);
    expect(await signIn(typed.normalize("NFC"))).toBe(401);
    expect(await signIn(typed.normalize("NFD"))).toBe(200);
    for (const form of forms) expect(await signIn(typed.normalize(form))).toBe(200);
  });
});

test("a code is read as people type and paste it", async () => {
  const password = "correct horse battery";
  await accept(password);
  const forms: ((digits: string) => string)[] = [
    (digits) => `${digits.slice(0, 3)} ${digits.slice(3)}`,
    (digits) => ` ${digits}\n`,
    (digits) => `${digits.slice(0, 3)}-${digits.slice(3)}`,
    (digits) => `${digits.slice(0, 3)}\u2013${digits.slice(3)}\u200b`,
    (digits) => digits.replace(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
    (digits) => digits.replace(/\d/g, (digit) => String.fromCodePoint(0x0966 + Number(digit))),
    (digits) => digits.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    (digits) => digits.replace(/\d/g, (digit) => String.fromCodePoint(0x1d7ec + Number(digit))),
  ];
  for (const form of forms) {
    later(60);
    const answer = await send("signIn", { email, password, code: form(code()) });
    expect(answer.status, JSON.stringify(form("123456"))).toBe(200);
  }
  for (const other of ["12345", "1234567", "12a456", "", "one two"])
    expect((await send("signIn", { email, password, code: other })).status).toBe(400);
});
