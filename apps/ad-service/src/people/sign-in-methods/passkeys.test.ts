import {
  type Deviation,
  openSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from "@intermission/testing/software-authenticator";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../../test/fixtures/app-fixture.ts";
import {
  type BrowserFixture,
  consoleOrigin,
  openBrowser,
  sendAsOperator,
} from "../../../test/fixtures/browser-fixture.ts";
import { migrations } from "../../migrations.ts";
import { relyingParty } from "./passkeys.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let people = 0;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken, trustProxy: ["127.0.0.1"] });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

const browserOf = (n: number) => openBrowser(fixture, `203.0.113.${n}`);
const asOperator = (...call: [Parameters<typeof sendAsOperator>[2], Parameters<typeof sendAsOperator>[3]?]) =>
  sendAsOperator(fixture, operatorToken, ...call);

/** A person without a password, who has signed in by a link. */
async function openPerson() {
  people += 1;
  const email = `person${people}@ads.test`;
  const { body } = await asOperator("invitePerson", { payload: { email, role: "analyst" } });
  const { personId } = body.person as { personId: string };
  const link = await asOperator("createSignInLink", { payload: { email } });
  const browser = browserOf(people);
  await browser.send("openSignInLink", { token: String(link.body.link).split("#")[1] });
  return { personId, browser };
}

type Creation = { challenge: string; user: { id: string } };

async function addPasskey(browser: BrowserFixture, name = "Phone", deviation: Deviation = {}) {
  const authenticator = openSoftwareAuthenticator({ origin: consoleOrigin });
  const options = (await browser.send("startAddingPasskey")).body as Creation;
  const credential = authenticator.register(options, deviation);
  return { authenticator, added: await browser.send("addPasskey", { name, credential }) };
}

async function openPersonWithPasskey() {
  const person = await openPerson();
  const { authenticator, added } = await addPasskey(person.browser);
  expect(added).toMatchObject({ status: 201, body: { name: "Phone", lastUsedAt: null } });
  return { ...person, authenticator, passkeyId: String(added.body.passkeyId) };
}

async function assertionOf(browser: BrowserFixture, authenticator: SoftwareAuthenticator, deviation: Deviation = {}) {
  const options = (await browser.send("startPasskeySignIn")).body as { challenge: string };
  return { credential: authenticator.sign(options, deviation) };
}

const refused = { status: 401, body: { error: { code: "PASSKEY_REFUSED" } } };
const signInAgain = { status: 403, body: { error: { code: "SIGN_IN_AGAIN" } } };

/** Moves the clock of all by some minutes, while something is tried. */
async function later<Result>(minutes: number, attempt: () => Promise<Result>): Promise<Result> {
  const { now } = fixture.clock;
  fixture.clock.now = new Date(now.getTime() + minutes * 60_000);
  try {
    return await attempt();
  } finally {
    fixture.clock.now = now;
  }
}

test("a stolen cookie adds no passkey and no account: only within ten minutes of signing in, which use does not renew", async () => {
  const { browser: owner, personId } = await openPersonWithPasskey();
  const thief = browserOf(99);
  for (const [name, value] of owner.cookies) thief.cookies.set(name, value);
  await later(9, async () => expect((await owner.send("listSignInMethods")).status).toBe(200));
  await later(11, async () => {
    expect(await thief.send("startAddingPasskey")).toMatchObject(signInAgain);
    expect(await thief.send("startLinkingIdentity", { providerId: "telegram" })).toMatchObject(signInAgain);
    expect(await thief.send("linkIdentity", { query: "code=1&state=2" })).toMatchObject(signInAgain);
  });
  // Begun in time, ended too late; the challenge is still good.
  const authenticator = openSoftwareAuthenticator({ origin: consoleOrigin });
  const begun = await later(8, async () => (await thief.send("startAddingPasskey")).body as Creation);
  const credential = authenticator.register(begun);
  await later(11, async () =>
    expect(await thief.send("addPasskey", { name: "Theft", credential })).toMatchObject(signInAgain),
  );
  const { body } = await owner.send("listSignInMethods");
  expect(body.passkeys).toMatchObject([{ name: "Phone" }]);
  expect(body.identities).toEqual([]);

  const link = await asOperator("createSignInLink", { payload: { email: `person${people}@ads.test` } });
  await later(11, async () => {
    const signedIn = await owner.send("openSignInLink", { token: String(link.body.link).split("#")[1] });
    expect(signedIn).toMatchObject({ status: 200, body: { person: { personId } } });
    expect((await addPasskey(owner, "Laptop")).added.status).toBe(201);
  });
});

test("a passkey signs in without a name, and is renamed and removed by its person alone", async () => {
  const { browser, authenticator, personId, passkeyId } = await openPersonWithPasskey();
  const elsewhere = browserOf(people);
  const options = (await elsewhere.send("startPasskeySignIn")).body;
  expect(options).toMatchObject({ rpId: "ads.test", userVerification: "required" });
  expect(options.allowCredentials ?? []).toEqual([]);
  const signedIn = await elsewhere.send("signInWithPasskey", await assertionOf(elsewhere, authenticator));
  expect(signedIn).toMatchObject({ status: 200, body: { person: { personId, signInMethods: ["passkey"] } } });

  const { added } = await addPasskey(browser, "Laptop");
  const ofPasskey = { params: { passkeyId } };
  expect((await browser.send("renamePasskey", { name: "Old phone" }, ofPasskey)).body).toMatchObject({
    name: "Old phone",
  });
  const other = await openPerson();
  expect((await other.browser.send("renamePasskey", { name: "Mine" }, ofPasskey)).status).toBe(404);
  expect((await other.browser.send("removePasskey", undefined, ofPasskey)).status).toBe(404);
  const { passkeys } = (await browser.send("listSignInMethods")).body as { passkeys: { name: string }[] };
  expect(passkeys.map(({ name }) => name).sort()).toEqual(["Laptop", "Old phone"]);

  expect((await browser.send("removePasskey", undefined, ofPasskey)).status).toBe(200);
  expect(await elsewhere.send("signInWithPasskey", await assertionOf(elsewhere, authenticator))).toMatchObject(refused);
  const last = { params: { passkeyId: String(added.body.passkeyId) } };
  expect((await browser.send("removePasskey", undefined, last)).body).toMatchObject({
    error: { code: "LAST_SIGN_IN_METHOD" },
  });
});

test("an answer of a passkey is accepted once, also by two requests at the same time, and from its browser alone", async () => {
  const { authenticator } = await openPersonWithPasskey();
  const browser = browserOf(people);
  const answer = await assertionOf(browser, authenticator);
  const challenge = browser.cookies.get("__Host-passkey") ?? "";
  const copy = () => {
    const one = browserOf(people);
    one.cookies.set("__Host-passkey", challenge);
    return one;
  };
  expect(await browserOf(people).send("signInWithPasskey", answer)).toMatchObject(refused);
  const both = await Promise.all([copy(), copy()].map((one) => one.send("signInWithPasskey", answer)));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  // Replayed with the challenge's cookie, which the browser was told to drop.
  expect(await copy().send("signInWithPasskey", answer)).toMatchObject(refused);
});

test("an authenticator that does not count is accepted, and its answer once, too", async () => {
  const { authenticator } = await openPersonWithPasskey();
  const browser = browserOf(people);
  const answer = await assertionOf(browser, authenticator, { signCount: 0 });
  const challenge = browser.cookies.get("__Host-passkey") ?? "";
  expect((await browser.send("signInWithPasskey", answer)).status).toBe(200);
  browser.cookies.set("__Host-passkey", challenge);
  expect(await browser.send("signInWithPasskey", answer)).toMatchObject(refused);
  const again = await assertionOf(browser, authenticator, { signCount: 0 });
  expect((await browser.send("signInWithPasskey", again)).status).toBe(200);
});

test("a counter that does not rise is that of a copy, which is refused", async () => {
  const { authenticator } = await openPersonWithPasskey();
  const browser = browserOf(people);
  expect(
    (await browser.send("signInWithPasskey", await assertionOf(browser, authenticator, { signCount: 7 }))).status,
  ).toBe(200);
  for (const signCount of [7, 3, 0]) {
    const answer = await assertionOf(browser, authenticator, { signCount });
    expect(await browser.send("signInWithPasskey", answer), `${signCount}`).toMatchObject(refused);
  }
  expect(
    (await browser.send("signInWithPasskey", await assertionOf(browser, authenticator, { signCount: 8 }))).status,
  ).toBe(200);
});

test.each<[string, Deviation]>([
  ["of another challenge", { challenge: Buffer.alloc(32).toString("base64url") }],
  ["of another page", { origin: "https://evil.test" }],
  ["for another host", { rpId: "evil.test" }],
  ["of a passkey that was not unlocked", { isVerified: false }],
])("an answer %s is refused, when a passkey is added and when it signs in", async (_, deviation) => {
  const { authenticator, browser } = await openPersonWithPasskey();
  const elsewhere = browserOf(people);
  const answer = await assertionOf(elsewhere, authenticator, deviation);
  expect(await elsewhere.send("signInWithPasskey", answer)).toMatchObject(refused);
  const { added } = await addPasskey(browser, "Another", deviation);
  expect(added).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining("the passkey is not accepted") } },
  });
});

test("a challenge expires after five minutes, and one to add a passkey is of its person", async () => {
  const { authenticator, browser } = await openPersonWithPasskey();
  const elsewhere = browserOf(people);
  const answer = await assertionOf(elsewhere, authenticator);
  const { now } = fixture.clock;
  fixture.clock.now = new Date(now.getTime() + 301_000);
  expect(await elsewhere.send("signInWithPasskey", answer)).toMatchObject(refused);
  fixture.clock.now = now;

  const options = (await browser.send("startAddingPasskey")).body as Creation;
  const credential = openSoftwareAuthenticator({ origin: consoleOrigin }).register(options);
  const other = await openPerson();
  other.browser.cookies.set("__Host-passkey", browser.cookies.get("__Host-passkey") ?? "");
  expect((await other.browser.send("addPasskey", { name: "Mine", credential })).status).toBe(409);
  expect((await browser.send("addPasskey", { name: "Second", credential })).status).toBe(201);
  expect((await browser.send("addPasskey", { name: "Twice", credential })).status).toBe(409);
});

test("a disabled person's passkey is refused, and an invitation anew ends it", async () => {
  const { authenticator, personId } = await openPersonWithPasskey();
  const browser = browserOf(people);
  const signIn = async () => browser.send("signInWithPasskey", await assertionOf(browser, authenticator));
  await asOperator("disablePerson", { params: { personId } });
  expect(await signIn()).toMatchObject(refused);
  await asOperator("enablePerson", { params: { personId } });
  expect((await signIn()).status).toBe(200);
  await asOperator("renewInvitation", { params: { personId } });
  expect(await signIn()).toMatchObject(refused);
});

test("on a machine of one's own passkeys are of localhost, since an IP address can have none", () => {
  expect(relyingParty("http://127.0.0.1:8701")).toEqual({ id: "localhost", origin: "http://localhost:8701" });
  expect(relyingParty("https://ads.example")).toEqual({ id: "ads.example", origin: "https://ads.example" });
});
