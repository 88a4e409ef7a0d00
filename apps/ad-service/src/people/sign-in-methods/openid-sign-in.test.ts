import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import { type OpenIdProviderFixture, startOpenIdProvider } from "@intermission/testing/openid-provider";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../../test/fixtures/app-fixture.ts";
import {
  type BrowserFixture,
  openBrowser,
  consoleOrigin as origin,
  sendAsOperator,
} from "../../../test/fixtures/browser-fixture.ts";
import { migrations } from "../../migrations.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let provider: OpenIdProviderFixture;
let people = 0;
let subject: string;
const lines: string[] = [];

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  provider = await startOpenIdProvider({ redirectUris: [`${origin}/console/openid`] });
  const { issuer, clientId, clientSecret } = provider;
  const known = { providerId: "telegram" as const, name: "Telegram", issuer, clientId, clientSecret };
  const unreachable = { ...known, providerId: "openid" as const, name: "Office", issuer: "http://127.0.0.1:1" };
  const settings = { operatorToken, trustProxy: ["127.0.0.1"], openIdProviders: [known, unreachable] };
  fixture = await openAppFixture(store.database, settings, { log: (line) => void lines.push(line) });
});
afterAll(async () => {
  await fixture.close();
  await provider.close();
  await store.dispose();
});

/** A person at the provider whom nobody here knows, and a browser without cookies. */
beforeEach(() => {
  people += 1;
  subject = `subject-${people}`;
  provider.browser.account = { subject, username: `user${people}` };
});

const newBrowser = () => openBrowser(fixture, `203.0.113.${people}`);
const asOperator = (name: OperatorRouteName, payload?: object, personId = "") =>
  sendAsOperator(fixture, operatorToken, name, { ...(payload !== undefined && { payload }), params: { personId } });

async function invite(role = "analyst"): Promise<{ personId: string; token: string; email: string }> {
  people += 1;
  const email = `person${people}@ads.test`;
  const { body } = await asOperator("invitePerson", { email, role });
  const { person, link } = body as { person: { personId: string }; link: string };
  return { personId: person.personId, token: link.split("#")[1] ?? "", email };
}

/** Begins at this service and signs in at the provider: the query that the browser brings back. */
async function bringAnswer(browser: BrowserFixture, start: OperatorRouteName = "startOpenIdSignIn", more: object = {}) {
  const started = await browser.send(start, { providerId: "telegram", ...more });
  expect(started.status).toBe(200);
  return { query: await provider.follow(String(started.body.address)) };
}
const signIn = async (browser: BrowserFixture, more: object = {}) =>
  browser.send("finishOpenIdSignIn", await bringAnswer(browser, "startOpenIdSignIn", more));

async function acceptByProvider() {
  const invited = await invite();
  const browser = newBrowser();
  expect((await signIn(browser, { invitation: invited.token })).status).toBe(200);
  return { ...invited, browser };
}

test("an invited person accepts by an account at the provider, which signs in from then on", async () => {
  const { personId, token, browser } = await acceptByProvider();
  expect((await browser.send("showSession")).body).toMatchObject({ person: { personId, signInMethods: ["openid"] } });
  const elsewhere = newBrowser();
  expect((await signIn(elsewhere)).body).toMatchObject({ person: { personId } });
  expect((await elsewhere.send("listSignInMethods")).body).toMatchObject({
    hasPassword: false,
    identities: [{ provider: "Telegram", label: provider.browser.account?.username }],
    providers: [
      { providerId: "telegram", name: "Telegram" },
      { providerId: "openid", name: "Office" },
    ],
  });
  // The invitation is used up, for a password, too.
  expect((await newBrowser().send("openInvitation", { token })).status).toBe(404);
});

test("an account that is linked with nobody opens nothing, and leaves no trace", async () => {
  const browser = newBrowser();
  const answer = await signIn(browser);
  expect(answer).toMatchObject({ status: 403, body: { error: { code: "NOT_LINKED" } } });
  expect([...browser.cookies]).toEqual([]);
  const rows = await store.database.run({ name: "", text: "select from person_identities where subject = $1" }, [
    subject,
  ]);
  expect(rows).toEqual([]);
});

test("a disabled person is not signed in, and an invitation anew ends the linked account", async () => {
  const { personId } = await acceptByProvider();
  await asOperator("disablePerson", undefined, personId);
  expect((await signIn(newBrowser())).body).toMatchObject({ error: { code: "NOT_LINKED" } });
  await asOperator("enablePerson", undefined, personId);
  expect((await signIn(newBrowser())).status).toBe(200);
  await asOperator("renewInvitation", undefined, personId);
  expect((await signIn(newBrowser())).body).toMatchObject({ error: { code: "NOT_LINKED" } });
});

test("an account is linked by its person, with one person only, and unlinked unless it is the only way to sign in", async () => {
  const { browser, personId } = await acceptByProvider();
  const first = { ...provider.browser.account } as { subject: string; username: string };
  const [only] = (await browser.send("listSignInMethods")).body.identities as { identityId: string }[];
  const remove = () => browser.send("unlinkIdentity", undefined, { params: { identityId: only?.identityId ?? "" } });
  expect(await remove()).toMatchObject({ status: 409, body: { error: { code: "LAST_SIGN_IN_METHOD" } } });

  provider.browser.account = { subject: `${first.subject}-second`, username: "second" };
  const linked = await browser.send("linkIdentity", await bringAnswer(browser, "startLinkingIdentity"));
  expect(linked).toMatchObject({ status: 201, body: { label: "second", provider: "Telegram" } });
  expect((await signIn(newBrowser())).body).toMatchObject({ person: { personId } });
  const other = await invite();
  expect(await signIn(newBrowser(), { invitation: other.token })).toMatchObject({
    status: 409,
    body: { error: { code: "LINKED_ALREADY" } },
  });
  expect((await remove()).status).toBe(200);
  provider.browser.account = first;
  expect((await signIn(newBrowser())).body).toMatchObject({ error: { code: "NOT_LINKED" } });
});

test("an answer is worth nothing in another browser, a second time, or for another purpose", async () => {
  const { browser } = await acceptByProvider();
  const victim = newBrowser();
  const refused = { status: 403, body: { error: { code: "SIGN_IN_EXPIRED" } } };
  const stolen = await bringAnswer(newBrowser());
  expect(await victim.send("finishOpenIdSignIn", stolen)).toMatchObject(refused);
  // Also where the victim has begun to sign in itself: the state differs (login CSRF).
  await victim.send("startOpenIdSignIn", { providerId: "telegram" });
  expect(await victim.send("finishOpenIdSignIn", stolen)).toMatchObject(refused);

  const used = newBrowser();
  const answer = await bringAnswer(used);
  const cookie = used.cookies.get("__Host-openid") ?? "";
  expect((await used.send("finishOpenIdSignIn", answer)).status).toBe(200);
  expect(used.cookies.has("__Host-openid")).toBe(false);
  used.cookies.set("__Host-openid", cookie);
  expect(await used.send("finishOpenIdSignIn", answer)).toMatchObject(refused);

  const signingIn = await bringAnswer(browser);
  expect(await browser.send("linkIdentity", signingIn)).toMatchObject(refused);
});

test("an answer comes too late after ten minutes, and a cookie of another making is none", async () => {
  const browser = newBrowser();
  const answer = await bringAnswer(browser);
  const { now } = fixture.clock;
  fixture.clock.now = new Date(now.getTime() + 601_000);
  expect((await browser.send("finishOpenIdSignIn", answer)).body).toMatchObject({ error: { code: "SIGN_IN_EXPIRED" } });
  fixture.clock.now = now;
  browser.cookies.set("__Host-openid", Buffer.from("{}").toString("base64url"));
  expect((await browser.send("finishOpenIdSignIn", answer)).body).toMatchObject({ error: { code: "SIGN_IN_EXPIRED" } });
});

test("state, nonce and PKCE are sent, and the browser can read none of what binds the answer to it", async () => {
  const browser = newBrowser();
  const { setCookies, body } = await browser.send("startOpenIdSignIn", { providerId: "telegram" });
  const address = new URL(String(body.address));
  expect(address.origin).toBe(provider.issuer);
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    response_type: "code",
    redirect_uri: `${origin}/console/openid`,
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  const [set] = setCookies;
  expect(set).toMatch(/^__Host-openid=[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Strict$/);
  const clear = Buffer.from(browser.cookies.get("__Host-openid") ?? "", "base64url").toString("latin1");
  expect(clear).not.toContain(address.searchParams.get("state"));
});

test("who cancels at the provider, and a provider that does not answer, are told what to do", async () => {
  provider.browser.account = undefined;
  expect(await signIn(newBrowser())).toMatchObject({ status: 403, body: { error: { code: "SIGN_IN_CANCELLED" } } });
  const unavailable = await newBrowser().send("startOpenIdSignIn", { providerId: "openid" });
  expect(unavailable).toMatchObject({ status: 503, body: { error: { code: "PROVIDER_UNAVAILABLE" } } });
  expect(lines.join("\n")).toContain("check the issuer, the client id and the secret");
});

test("the session of a browser that signs in is replaced, and no code, token or secret is in the log or the store", async () => {
  const { browser } = await acceptByProvider();
  const planted = browser.cookies.get("__Host-operator") ?? "";
  const answer = await bringAnswer(browser);
  expect((await browser.send("finishOpenIdSignIn", answer)).status).toBe(200);
  expect(browser.cookies.get("__Host-operator")).not.toBe(planted);
  const former = newBrowser();
  former.cookies.set("__Host-operator", planted);
  expect((await former.send("showSession")).status).toBe(401);
  const code = new URLSearchParams(answer.query).get("code") ?? "";
  const text =
    "select p::text || coalesce(s::text, '') as row from people p left join person_sessions s using (person_id)";
  const rows = await store.database.run<{ row: string }>({ name: "", text }, []);
  for (const secret of [code, provider.clientSecret, browser.cookies.get("__Host-operator") ?? ""]) {
    expect(secret).not.toBe("");
    expect(lines.join("\n")).not.toContain(secret);
    expect(rows.map(({ row }) => row).join("\n")).not.toContain(secret);
  }
});

test("a try to sign in by a provider counts as every other try of its address", async () => {
  const statuses: number[] = [];
  const browser = newBrowser();
  for (let n = 0; n < 21; n += 1)
    statuses.push((await browser.send("finishOpenIdSignIn", { query: `code=${n}&state=x` })).status);
  expect(statuses.slice(0, 20)).toEqual(Array(20).fill(403));
  expect(statuses[20]).toBe(429);
});

test("what a provider writes into a name is stored as far as it can be, and an account whose id cannot is refused", async () => {
  const { token } = await invite();
  const browser = newBrowser();
  provider.browser.account = { subject, username: `a\0nn \ud83d ${"🙂".repeat(100)}` };
  expect((await signIn(browser, { invitation: token })).status).toBe(200);
  const { identities } = (await browser.send("listSignInMethods")).body as { identities: { label: string }[] };
  expect(identities[0]?.label).toMatch(/^ann \ufffd (🙂){61}$/u);
  // At the next sign-in the label is written again.
  provider.browser.account = { subject, username: "\0" };
  expect((await signIn(newBrowser())).status).toBe(200);
  for (const other of ["10\x0001", "\ud83d", "\0"]) {
    provider.browser.account = { subject: other, username: "ann" };
    expect(await signIn(newBrowser())).toMatchObject({ status: 403 });
  }
});
