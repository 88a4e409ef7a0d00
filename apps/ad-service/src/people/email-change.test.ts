import { type OperatorRequest, operatorRequest } from "@intermission/operator-api/operator-request";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openMailServer } from "../../test/fixtures/mail-server.ts";
import { openTwoNodes, type TwoNodes } from "../../test/fixtures/two-nodes-fixture.ts";
import { openSession } from "./sessions.ts";

const password = "correct horse battery";
let two: TwoNodes;
let mail: Awaited<ReturnType<typeof openMailServer>>;
let people = 0;
let personId: string;
let email: string;
let secret: Secret;
let cookie: string;

beforeAll(async () => {
  mail = await openMailServer();
  const notices = { smtpUrl: mail.url, smtpFrom: "ads@ads.test", telegramBotToken: undefined, telegramApiUrl: "" };
  two = await openTwoNodes({ trustProxy: ["127.0.0.1"], notices });
});
afterAll(async () => {
  await two.close();
  await mail.close();
});

/** As a browser, with the cookie of a session. */
async function send(request: OperatorRequest, session = "", node = two.nodes[0]) {
  const { status, headers, body } = await two.send(node, request, {
    origin: "http://ads.test",
    "x-forwarded-for": `203.0.113.${people}`,
    ...(session !== "" && { cookie: session }),
  });
  return { status, body, cookie: headers.get("set-cookie")?.split(";")[0] ?? "" };
}
/** As the command line. */
const operate = (request: OperatorRequest) => two.send(two.nodes[0], request);
const code = () => new TOTP({ secret }).generate({ timestamp: two.nodes[0].clock.now.getTime() });
const later = (seconds: number) => {
  for (const { clock } of two.nodes) clock.now = new Date(clock.now.getTime() + seconds * 1000);
};
const signIn = (changes: object = {}) => {
  later(60);
  return send(operatorRequest("signIn", { body: { email, password, code: code(), ...changes } }));
};
const ask = (to: string, changes: object = {}, session = cookie) => {
  later(60);
  const body = { email: to, currentPassword: password, code: code(), ...changes };
  return send(operatorRequest("requestEmailChange", { body }), session);
};
const confirm = (token: string, node = two.nodes[0]) =>
  send(operatorRequest("confirmEmailChange", { body: { token } }), "", node);
const undo = (token: string) => send(operatorRequest("undoEmailChange", { body: { token } }));
const ownEmail = async () => (await send(operatorRequest("showOwnEmail"), cookie)).body;
const isSignedIn = async (session: string) => (await send(operatorRequest("showSession"), session)).status === 200;
/** The latest two mails: that to the present address with the token that takes the change back, and that to the new one. */
function mails() {
  const [notice, toNew] = mail.received.slice(-2);
  const tokenIn = (text = "") => /#(?:undo-)?([\w-]{43})/.exec(text)?.[1];
  return {
    to: [notice?.to, toNew?.to].flat(),
    undoToken: tokenIn(notice?.text) ?? "",
    token: tokenIn(toNew?.text) ?? "",
    text: toNew?.text ?? "",
  };
}

async function invite(address: string) {
  const { status, body } = await operate(
    operatorRequest("invitePerson", { body: { email: address, role: "analyst" } }),
  );
  expect(status).toBe(201);
  return { personId: (body.person as { personId: string }).personId, token: String(body.link).split("#")[1] ?? "" };
}

/** A person of an invitation that was accepted. */
beforeEach(async () => {
  people += 1;
  email = `person${people}@ads.test`;
  mail.state.isRefusing = false;
  const invited = await invite(email);
  ({ personId } = invited);
  const opened = await send(operatorRequest("openInvitation", { body: { token: invited.token } }));
  secret = Secret.fromBase32(String(opened.body.totpSecret));
  const body = { token: invited.token, password, code: code() };
  ({ cookie } = await send(operatorRequest("acceptInvitation", { body })));
});

test("the own address changes by the link to the new one, once; the session that asked stays, others end", async () => {
  const to = `new${people}@ads.test`;
  const other = (await signIn()).cookie;
  const link = await operate(operatorRequest("createSignInLink", { body: { email } }));
  expect(await ask(to.toUpperCase())).toMatchObject({ status: 201, body: { email: to } });
  expect(mails().to).toEqual([email, to]);
  expect(await ownEmail()).toMatchObject({ email, canMail: true, requested: { email: to } });
  // Until then everything is as it was.
  expect((await signIn()).status).toBe(200);
  const { token } = mails();
  expect(await confirm(token)).toMatchObject({ status: 200, body: { email: to } });
  expect((await confirm(token)).status).toBe(404);
  expect(await ownEmail()).toMatchObject({ email: to, requested: null });
  expect(await isSignedIn(other)).toBe(false);
  const body = { token: String(link.body.link).split("#")[1] ?? "" };
  expect((await send(operatorRequest("openSignInLink", { body }))).status).toBe(404);
  expect((await signIn()).status).toBe(401);
  expect((await signIn({ email: to })).status).toBe(200);
});

test("the way back keeps the present address, or restores it with later changes undone; all sessions end", async () => {
  await ask(`refused${people}@ads.test`);
  const refused = mails();
  expect(await undo(refused.undoToken)).toMatchObject({ status: 200, body: { email } });
  expect((await confirm(refused.token)).status).toBe(404);
  expect(await isSignedIn(cookie)).toBe(false);
  ({ cookie } = await signIn());

  // Whoever has taken the account over changes the address twice.
  await ask(`stolen${people}@ads.test`);
  const first = mails();
  await confirm(first.token);
  await ask(`away${people}@ads.test`);
  const second = mails();
  await confirm(second.token);
  expect(await undo(first.undoToken)).toMatchObject({ status: 200, body: { email } });
  expect(await isSignedIn(cookie)).toBe(false);
  expect((await undo(second.undoToken)).status).toBe(404);
  expect((await undo(first.undoToken)).status).toBe(404);
  expect((await signIn()).status).toBe(200);
});

test("it needs the password and a code that was not used; a stolen session guesses neither without end", async () => {
  const to = `guess${people}@ads.test`;
  for (const wrong of [{ currentPassword: "a wrong guess" }, { code: "000000" }])
    expect(await ask(to, wrong)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("is wrong") } },
    });
  expect(await ask(to, { currentPassword: undefined })).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("currentPassword is needed") } },
  });
  expect(await ask(email)).toMatchObject({
    status: 400,
    body: { error: { message: "email is your address already" } },
  });
  const { length } = mail.received;
  const used = code();
  expect(
    (
      await send(
        operatorRequest("requestEmailChange", { body: { email: to, currentPassword: password, code: used } }),
        cookie,
      )
    ).status,
  ).toBe(201);
  expect(
    (
      await send(
        operatorRequest("requestEmailChange", { body: { email: to, currentPassword: password, code: used } }),
        cookie,
      )
    ).status,
  ).toBe(400);
  expect(mail.received.length).toBe(length + 2);
  let status = 400;
  const guess = operatorRequest("requestEmailChange", {
    body: { email: to, currentPassword: "a guess", code: "000000" },
  });
  for (let tries = 0; tries < 11 && status === 400; tries += 1) ({ status } = await send(guess, cookie));
  expect(status).toBe(429);
});

test("a person without a password proves it by a recent sign-in", async () => {
  const text = "update people set password_hash = null where person_id = $1";
  await two.store.database.run({ name: "", text }, [personId]);
  const without = { currentPassword: undefined, code: undefined };
  expect(await ask(`fresh${people}@ads.test`, without)).toMatchObject({ status: 201 });
  later(3600);
  expect(await ask(`stale${people}@ads.test`, without)).toMatchObject({
    status: 403,
    body: { error: { code: "SIGN_IN_AGAIN" } },
  });
});

test("that an address has an account is told to its holder alone, and nothing changes", async () => {
  const known = `known${people}@ads.test`;
  await invite(known);
  const free = await ask(`free${people}@ads.test`);
  const taken = await ask(known);
  expect([taken.status, Object.keys(taken.body)]).toEqual([free.status, Object.keys(free.body)]);
  expect(mails()).toMatchObject({ to: [email, known], token: "" });
  expect(mails().text).toContain("has an account already");
  expect(await ownEmail()).toMatchObject({ email, requested: { email: known } });
});

test("an address that somebody else gets meanwhile stays theirs", async () => {
  const to = `race${people}@ads.test`;
  await ask(to);
  const { token } = mails();
  await invite(to);
  expect(await confirm(token)).toMatchObject({ status: 409, body: { error: { code: "PERSON_EXISTS" } } });
  expect(await ownEmail()).toMatchObject({ email });
});

test("a link ends after an hour, by a later one, by a new password, and by what an owner does with the account", async () => {
  const to = `late${people}@ads.test`;
  await ask(to);
  const earlier = mails().token;
  await ask(to);
  const { token } = mails();
  expect((await confirm(earlier)).status).toBe(404);
  later(3600);
  expect((await confirm(token)).status).toBe(404);
  ({ cookie } = await signIn());
  await ask(to);
  later(60);
  const body = { currentPassword: password, code: code(), password: "staple battery horse" };
  expect((await send(operatorRequest("changePassword", { body }), cookie)).status).toBe(200);
  expect((await confirm(mails().token)).status).toBe(404);
  await ask(to, { currentPassword: "staple battery horse" });
  const open = mails();
  await operate(operatorRequest("disablePerson", { params: { personId } }));
  await operate(operatorRequest("enablePerson", { params: { personId } }));
  expect((await confirm(open.token)).status).toBe(404);
  expect((await undo(open.undoToken)).status).toBe(404);
});

test("mails that the mail server refuses leave no change, and five a day are the most", async () => {
  mail.state.isRefusing = true;
  expect(await ask(`lost${people}@ads.test`)).toMatchObject({
    status: 409,
    body: { error: { code: "MAIL_NOT_SENT" } },
  });
  expect(await ownEmail()).toMatchObject({ requested: null });
  mail.state.isRefusing = false;
  for (let n = 0; n < 4; n += 1) expect((await ask(`many${n}.${people}@ads.test`)).status).toBe(201);
  expect((await ask(`more${people}@ads.test`)).status).toBe(429);
});

test("the store has only hashes of the links, and the audit trail who requested, confirmed and undid", async () => {
  const to = `audit${people}@ads.test`;
  await ask(to);
  const { token, undoToken } = mails();
  await confirm(token);
  await undo(undoToken);
  const dump = "select person_email_changes::text as row from person_email_changes";
  const rows = JSON.stringify(await two.store.database.run({ name: "", text: dump }, []));
  for (const secret of [token, undoToken]) {
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain(Buffer.from(secret).toString("hex"));
  }
  const { body } = await operate(operatorRequest("listAuditEntries", { query: { objectId: personId } }));
  const entries = body.entries as { operation: string; before: object; after: object }[];
  expect(entries.slice(0, 3)).toMatchObject([
    { operation: "undoEmailChange", before: { email: to }, after: { email } },
    {
      operation: "confirmEmailChange",
      before: { email, requested_email: to },
      after: { email: to, requested_email: null },
    },
    { operation: "requestEmailChange", before: { requested_email: null }, after: { requested_email: to } },
  ]);
});

test("an owner changes it at once: sessions and an open invitation end, and the former address is told", async () => {
  const owner = await invite(`owner${people}@ads.test`);
  const invited = await invite(`typo${people}@ads.test`);
  const change = (id: string, to: string, query: object = {}) =>
    operate(operatorRequest("changeEmail", { params: { personId: id }, query, body: { email: to } }));
  expect(await change(personId, `typo${people}@ads.test`)).toMatchObject({ status: 409 });
  expect(await change("per_nobody", "nobody@ads.test")).toMatchObject({ status: 404 });
  const changed = await change(personId, `moved${people}@ads.test`);
  expect(changed).toMatchObject({ status: 200, body: { email: `moved${people}@ads.test`, isSignedIn: false } });
  expect(mail.received.at(-1)).toMatchObject({ to: [email] });
  expect(await isSignedIn(cookie)).toBe(false);
  expect((await signIn({ email: `moved${people}@ads.test` })).status).toBe(200);
  expect(
    await change(personId, `again${people}@ads.test`, { expectedUpdatedAt: "2026-01-01T00:00:00.000Z" }),
  ).toMatchObject({
    status: 409,
    body: { error: { code: "PERSON_CHANGED" } },
  });
  await change(invited.personId, `right${people}@ads.test`);
  expect((await send(operatorRequest("openInvitation", { body: { token: invited.token } }))).status).toBe(404);
  // The own one, by a confirmation.
  await operate(operatorRequest("changeRole", { params: { personId: owner.personId }, body: { role: "owner" } }));
  const { now } = two.nodes[0].clock;
  const { token } = await two.store.database.transaction((tx) => openSession(tx, { personId: owner.personId, now }));
  const own = { params: { personId: owner.personId }, body: { email: `mine${people}@ads.test` } };
  expect(await send(operatorRequest("changeEmail", own), `__Host-operator=${token}`)).toMatchObject({
    status: 409,
    body: { error: { code: "OWN_ACCOUNT" } },
  });
});

test("of eight confirmations of one link at once, on two nodes, one makes the change", async () => {
  const to = `eight${people}@ads.test`;
  await ask(to);
  const { token } = mails();
  const all = await two.eightAtOnce(["people", "person_email_changes"], (node) => confirm(token, node));
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(404)]);
  expect(await ownEmail()).toMatchObject({ email: to });
});

test("of eight people who confirm one address at once, on two nodes, one gets it", async () => {
  const to = `one${people}@ads.test`;
  const { now } = two.nodes[0].clock;
  const tokens: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    const { personId: id } = await invite(`of-eight${n}.${people}@ads.test`);
    const opened = await two.store.database.transaction((tx) => openSession(tx, { personId: id, now }));
    const session = `__Host-operator=${opened.token}`;
    const requested = await send(operatorRequest("requestEmailChange", { body: { email: to } }), session);
    expect(requested.status).toBe(201);
    tokens.push(mails().token);
  }
  const all = await two.eightAtOnce(["people", "person_email_changes"], (node, n) => confirm(tokens[n] ?? "", node));
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  const { body } = await operate(operatorRequest("listPeople", { query: { find: to } }));
  expect(body.people).toHaveLength(1);
});

test("of eight requests at once, on two nodes, one waits for its confirmation", async () => {
  const text = "update people set password_hash = null where person_id = $1";
  await two.store.database.run({ name: "", text }, [personId]);
  const all = await two.eightAtOnce(["people", "person_email_changes"], (node, n) =>
    send(operatorRequest("requestEmailChange", { body: { email: `at-once${n}.${people}@ads.test` } }), cookie, node),
  );
  // Five a day.
  expect(all.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(201), ...Array(3).fill(429)]);
  const open = "select count(*)::int as count from person_email_changes where person_id = $1 and state = 'requested'";
  expect(await two.store.database.run({ name: "", text: open }, [personId])).toEqual([{ count: 1 }]);
});

test("who signs out everywhere, or ends the session that asked, leaves no change to be confirmed", async () => {
  await ask(`everywhere-${email}`);
  const { token } = mails();
  await send(operatorRequest("signOutEverywhere"), cookie);
  expect((await confirm(token)).status).toBe(404);

  cookie = (await signIn()).cookie;
  const { cookie: thief } = await signIn();
  await ask(`ended-${email}`, {}, thief);
  const ofThief = mails().token;
  const { body } = await send(operatorRequest("listOwnSessions"), cookie);
  const others = (body.sessions as { sessionId: string; isCurrent: boolean }[]).filter(({ isCurrent }) => !isCurrent);
  for (const { sessionId } of others) await send(operatorRequest("endOwnSession", { params: { sessionId } }), cookie);
  expect((await confirm(ofThief)).status).toBe(404);
});
