import { type OperatorRequest, operatorRequest } from "@intermission/operator-api/operator-request";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openTwoNodes, type TwoNodes } from "../../test/fixtures/two-nodes-fixture.ts";
import { MAX_SESSIONS, openSession } from "./sessions.ts";

const password = "correct horse battery";
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";
let two: TwoNodes;
let people = 0;
let email: string;
let secret: Secret;
let cookie: string;

beforeAll(async () => {
  two = await openTwoNodes({ trustProxy: ["127.0.0.1"] });
});
afterAll(() => two.close());

/** As a browser of the person, with the cookie of a session. */
async function send(request: OperatorRequest, session = "") {
  const { status, headers, body } = await two.send(two.nodes[0], request, {
    origin: "http://ads.test",
    "user-agent": firefox,
    "x-forwarded-for": `203.0.113.${people}`,
    ...(session !== "" && { cookie: session }),
  });
  return { status, body, cookie: headers.get("set-cookie")?.split(";")[0] ?? "" };
}
const codeAt = (seconds = 0) =>
  new TOTP({ secret }).generate({ timestamp: two.nodes[0].clock.now.getTime() + seconds * 1000 });
const later = (seconds: number) => {
  for (const { clock } of two.nodes) clock.now = new Date(clock.now.getTime() + seconds * 1000);
};
const signIn = (changes: object = {}) =>
  send(operatorRequest("signIn", { body: { email, password, code: codeAt(), ...changes } }));
const sessionsOf = async (session: string) =>
  (await send(operatorRequest("listOwnSessions"), session)).body.sessions as Record<string, unknown>[];
const isSignedIn = async (session: string) => (await send(operatorRequest("showSession"), session)).status === 200;
const newCodes = async () => {
  const { status, body } = await send(operatorRequest("createRecoveryCodes"), cookie);
  expect(status).toBe(201);
  return body.codes as string[];
};

async function accept({ body }: { body: Record<string, unknown> }) {
  const token = String(body.link).split("#")[1] ?? "";
  const opened = await send(operatorRequest("openInvitation", { body: { token } }));
  secret = Secret.fromBase32(String(opened.body.totpSecret));
  const accepted = await send(operatorRequest("acceptInvitation", { body: { token, password, code: codeAt() } }));
  expect(accepted.status).toBe(200);
  ({ cookie } = accepted);
  later(60);
}

/** A person who has just accepted the invitation, whose code of that moment is used up. */
async function join() {
  people += 1;
  email = `person${people}@ads.test`;
  await accept(await two.send(two.nodes[0], operatorRequest("invitePerson", { body: { email, role: "analyst" } })));
}
beforeEach(join);

test("people see their own sessions, and end one of them: nobody else's", async () => {
  const other = (await signIn()).cookie;
  const listed = await sessionsOf(other);
  expect(listed.map(({ isCurrent, browser }) => ({ isCurrent, browser }))).toEqual([
    { isCurrent: true, browser: "Firefox, Linux" },
    { isCurrent: false, browser: "Firefox, Linux" },
  ]);
  const [current, first] = listed.map(({ sessionId }) => String(sessionId));
  const [own, stranger] = [cookie, await join().then(() => cookie)];
  const end = (sessionId = "", session = other) =>
    send(operatorRequest("endOwnSession", { params: { sessionId } }), session);
  expect((await end(first, stranger)).status).toBe(404);
  expect(await end(first)).toMatchObject({ status: 200, body: { ended: 1 }, cookie: "" });
  expect((await end(first)).status).toBe(404);
  expect(await isSignedIn(own)).toBe(false);
  expect(await end(current)).toMatchObject({ status: 200, cookie: "__Host-operator=" });
  expect(await isSignedIn(other)).toBe(false);
  expect(await isSignedIn(stranger)).toBe(true);
});

test("a person has so many sessions at most: a further one ends the one that was used longest ago", async () => {
  const { person } = (await send(operatorRequest("showSession"), cookie)).body as { person: { personId: string } };
  const open = () =>
    two.store.database.transaction((tx) => openSession(tx, { personId: person.personId, now: two.nodes[0].clock.now }));
  for (let opened = 1; opened < MAX_SESSIONS; opened += 1) await open();
  expect(await sessionsOf(cookie)).toHaveLength(MAX_SESSIONS);
  const { token } = await open();
  expect(await isSignedIn(cookie)).toBe(false);
  expect(await sessionsOf(`__Host-operator=${token}`)).toHaveLength(MAX_SESSIONS);
});

test("a new password needs the present one and a code; other sessions end, this one stays", async () => {
  const other = (await signIn()).cookie;
  later(60);
  const change = (changes: object = {}) =>
    send(
      operatorRequest("changePassword", {
        body: { currentPassword: password, code: codeAt(), password: "staple battery horse", ...changes },
      }),
      cookie,
    );
  for (const wrong of [{ currentPassword: "staple battery" }, { code: codeAt(90) }])
    expect(await change(wrong)).toMatchObject({
      status: 400,
      body: { error: { code: "BAD_REQUEST", message: expect.stringContaining("currentPassword is wrong") } },
    });
  expect(await change({ password: "short" })).toMatchObject({ status: 400 });
  expect(await change()).toMatchObject({ status: 200, body: { ended: 1 } });
  expect(await isSignedIn(other)).toBe(false);
  expect(await isSignedIn(cookie)).toBe(true);
  // Its code was used.
  expect((await signIn({ password: "staple battery horse" })).status).toBe(401);
  later(60);
  expect((await signIn()).status).toBe(401);
  expect((await signIn({ password: "staple battery horse" })).status).toBe(200);
});

test("whoever has a stolen session may not guess the password without end", async () => {
  const guess = () =>
    send(
      operatorRequest("changePassword", {
        body: { currentPassword: "a wrong guess", code: "000000", password: "staple battery horse" },
      }),
      cookie,
    );
  for (let tries = 0; tries < 10; tries += 1) expect((await guess()).status).toBe(400);
  expect((await guess()).status).toBe(429);
});

test("each recovery code signs in once with the password; new ones void them, and the store has only hashes", async () => {
  // Too long after the sign-in.
  later(3600);
  expect(await send(operatorRequest("createRecoveryCodes"), cookie)).toMatchObject({ status: 403 });
  ({ cookie } = await signIn());
  const before = await newCodes();
  const codes = await newCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  const [first = "", second = ""] = codes;
  expect((await signIn({ code: before[0] })).status).toBe(401);
  expect((await signIn({ code: first, password: "a wrong password" })).status).toBe(401);
  // As people type it.
  expect((await signIn({ code: first.toUpperCase().replaceAll("-", " ") })).status).toBe(200);
  expect((await signIn({ code: first })).status).toBe(401);
  const methods = await send(operatorRequest("listSignInMethods"), cookie);
  expect(methods.body).toMatchObject({ recoveryCodes: 9 });
  const text = "select person_recovery_codes::text from person_recovery_codes";
  const rows = await two.store.database.run({ name: "", text }, []);
  expect(rows).not.toHaveLength(0);
  for (const clear of [second, second.replaceAll("-", "")]) {
    expect(JSON.stringify(rows)).not.toContain(clear);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(clear).toString("hex"));
  }
});

test("an invitation anew voids the recovery codes", async () => {
  const [code] = await newCodes();
  const { person } = (await send(operatorRequest("showSession"), cookie)).body as { person: { personId: string } };
  const { personId } = person;
  await accept(await two.send(two.nodes[0], operatorRequest("renewInvitation", { params: { personId } })));
  expect((await signIn({ code })).status).toBe(401);
});

test("of eight sign-ins at once with one recovery code, on two nodes, one is accepted", async () => {
  const [code] = await newCodes();
  const headers = { origin: "http://ads.test" };
  const all = await two.eightAtOnce(["people"], (node) =>
    two.send(node, operatorRequest("signIn", { body: { email, password, code: String(code) } }), headers),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(401)]);
});
