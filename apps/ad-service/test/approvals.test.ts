import type { Role } from "@intermission/operator-api/access";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeAlerts } from "../src/alerts/make-alerts.ts";
import { advertiserAccount, publisherAccount, sumOfEntries } from "../src/money/ledger.ts";
import { openSession } from "../src/people/sessions.ts";
import { type NodeAnswer, openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

type Headers = Record<string, string> | undefined;

let two: TwoNodes;
let advertiserId: string;
let made = 0;
/** Who asks, and who approves. */
const people = {} as Record<"ann" | "bea" | "fin" | "analyst", { headers: Record<string, string>; personId: string }>;
const shop = { params: { advertiser: "Shop" } };
const credit = { amountMicros: 200e6, direction: "credit", note: "Goodwill" };

const run = <Row>(text: string, ...values: unknown[]) => two.store.database.run<Row>({ name: "", text }, values);
const balance = () => sumOfEntries(two.store.database, advertiserAccount(advertiserId));
const codes = (all: readonly NodeAnswer[]) => all.flatMap(({ body }) => body.error?.code ?? []);
const statuses = (all: readonly NodeAnswer[]) => all.map(({ status }) => status).toSorted();
const key = (n: number | string) => `key-of-a-request-${n}`;

/** `by`: undefined is the command line. */
function send<Name extends OperatorRouteName>(by: Headers, ...request: Parameters<typeof operatorRequest<Name>>) {
  return two.send(two.nodes[0], operatorRequest(...request), by);
}

async function person(role: Role) {
  made += 1;
  const body = { email: `${role}-${made}@ads.test`, role };
  const invited = await send(undefined, "invitePerson", { body });
  const { personId } = invited.body.person as { personId: string };
  // The person has accepted the invitation.
  await run("update people set password_hash = 'x' where person_id = $1", personId);
  const { now } = two.nodes[0].clock;
  const { token } = await two.store.database.transaction((tx) => openSession(tx, { personId, now }));
  return { personId, headers: { cookie: `__Host-operator=${token}`, origin: "http://ads.test" } };
}

/** Sends what needs a second person, and returns the id of its request. */
async function ask<Name extends OperatorRouteName>(by: Headers, ...request: Parameters<typeof operatorRequest<Name>>) {
  const answer = await send(by, ...request);
  expect(answer).toMatchObject({ status: 409, body: { error: { code: "APPROVAL_NEEDED" } } });
  return idIn(answer);
}

function idIn({ body }: NodeAnswer): string {
  const { details } = body.error as unknown as { details: { values: { requestId: string } } };
  return details.values.requestId;
}

const approve = (by: Headers, requestId: string) => send(by, "approveMoneyRequest", { params: { requestId } });
const refuse = (by: Headers, requestId: string) =>
  send(by, "refuseMoneyRequest", { params: { requestId }, body: { reason: "The invoice is of last year" } });
const waiting = async () => (await send(people.ann.headers, "listMoneyRequests", { query: { state: "waiting" } })).body;

beforeAll(async () => {
  two = await openTwoNodes({ currency: "EUR" });
  await run("insert into deployment (currency) values ('EUR')");
  const added = await send(undefined, "addAdvertiser", { body: { name: "Shop" } });
  advertiserId = String(added.body.advertiserId);
  people.ann = await person("owner");
  const alone = await send(people.ann.headers, "setApprovalAmount", { body: { aboveMicros: 100e6 } });
  expect(alone).toMatchObject({ status: 409, body: { error: { code: "TWO_OWNERS_NEEDED" } } });
  people.bea = await person("owner");
  people.fin = await person("finance");
  people.analyst = await person("analyst");
  const set = await send(people.ann.headers, "setApprovalAmount", { body: { aboveMicros: 100e6 } });
  expect(set).toMatchObject({ status: 200, body: { aboveMicros: 100e6, currency: "EUR" } });
});
beforeEach(() =>
  run("update money_requests set state = 'refused', reason = 'Test', decided_at = now() where state = 'waiting'"),
);
afterAll(() => two.close());

test("what a second person approves is recorded with the values that were asked for; who asks cannot approve", async () => {
  const before = await balance();
  const body = { ...credit, idempotencyKey: key("requested") };
  const requestId = await ask(people.fin.headers, "correctAdvertiser", { ...shop, body });
  expect(await balance()).toBe(before);
  expect(codes([await approve(people.fin.headers, requestId)])).toEqual(["OWN_REQUEST"]);
  expect((await approve(people.analyst.headers, requestId)).status).toBe(403);
  const requested = {
    operation: "correctAdvertiser",
    amountMicros: 200e6,
    direction: "credit",
    against: "revenue",
    note: "Goodwill",
  };
  expect(await waiting()).toMatchObject({
    waiting: 1,
    requests: [{ requestId, requested, name: "Shop", isOwn: false }],
  });
  expect(await approve(people.bea.headers, requestId)).toMatchObject({
    status: 200,
    body: { state: "approved", requested },
  });
  expect(await balance()).toBe(before + 200_000_000n);
  // The request of the first caller, repeated with its key, gets the answer of what was recorded.
  const repeated = await send(people.fin.headers, "correctAdvertiser", { ...shop, body });
  expect(repeated).toMatchObject({ status: 201, body: { transactionId: `correction ${key("requested")}` } });
  expect(await balance()).toBe(before + 200_000_000n);
});

test("of eight approvals at once, one pays", async () => {
  const before = await balance();
  const requestId = await ask(people.ann.headers, "correctAdvertiser", { ...shop, body: credit });
  const all = await two.eightAtOnce(["money_transactions", "money_requests"], (node, n) =>
    two.send(
      node,
      operatorRequest("approveMoneyRequest", { params: { requestId } }),
      n % 3 === 0 ? people.fin.headers : people.bea.headers,
    ),
  );
  expect(statuses(all)).toEqual([200, ...Array(7).fill(409)]);
  expect(new Set(codes(all))).toEqual(new Set(["REQUEST_DECIDED"]));
  expect(await balance()).toBe(before + 200_000_000n);
});

test("eight requests with one key wait as one, and those of other values are refused", async () => {
  const correct = (note: (n: number) => string) =>
    two.eightAtOnce(["money_requests"], (node, n) => {
      const body = { ...credit, note: note(n), idempotencyKey: key(note(0)) };
      return two.send(node, operatorRequest("correctAdvertiser", { ...shop, body }), people.ann.headers);
    });
  const same = await correct(() => "same");
  expect(new Set(codes(same))).toEqual(new Set(["APPROVAL_NEEDED"]));
  expect(new Set(same.map(idIn)).size).toBe(1);
  const others = await correct((n) => `other-${n}`);
  expect(codes(others).toSorted()).toEqual(["APPROVAL_NEEDED", ...Array(7).fill("IDEMPOTENCY_KEY_REUSED")]);
  expect(await waiting()).toMatchObject({ waiting: 2 });
});

test("the command line is nobody: it approves nothing, and what it asks for needs two persons", async () => {
  const before = await balance();
  const requestId = await ask(undefined, "correctAdvertiser", { ...shop, body: credit });
  expect(codes([await approve(undefined, requestId)])).toEqual(["PERSON_NEEDED"]);
  const first = await approve(people.ann.headers, requestId);
  expect(first).toMatchObject({ status: 200, body: { state: "waiting", isOwn: true, requestedBy: null } });
  expect(codes([await approve(people.ann.headers, requestId)])).toEqual(["OWN_REQUEST"]);
  expect(await balance()).toBe(before);
  expect(await approve(people.bea.headers, requestId)).toMatchObject({ status: 200, body: { state: "approved" } });
  expect(await balance()).toBe(before + 200_000_000n);
});

test("a request is refused with a reason, or withdrawn by who requested; its key asks for it no more", async () => {
  const before = await balance();
  const body = { ...credit, idempotencyKey: key("refused") };
  const requestId = await ask(people.ann.headers, "correctAdvertiser", { ...shop, body });
  const refused = { state: "refused", reason: "The invoice is of last year" };
  expect(await refuse(people.bea.headers, requestId)).toMatchObject({ status: 200, body: refused });
  expect(codes([await approve(people.bea.headers, requestId), await refuse(people.ann.headers, requestId)])).toEqual([
    "REQUEST_DECIDED",
    "REQUEST_DECIDED",
  ]);
  const repeated = await send(people.ann.headers, "correctAdvertiser", { ...shop, body });
  expect(repeated.body.error).toMatchObject({ code: "REQUEST_DECIDED" });
  const other = await ask(people.ann.headers, "correctAdvertiser", { ...shop, body: credit });
  expect(await refuse(people.ann.headers, other)).toMatchObject({ status: 200, body: { state: "withdrawn" } });
  expect(await balance()).toBe(before);
});

const above = 100_000_001;
const ways = {
  setTerms: { ...shop, body: { billing: "credit", creditLimitMicros: above } },
  "setTerms without a limit": { ...shop, body: { billing: "credit", creditLimitMicros: null } },
  recordTopUp: { ...shop, body: { amountMicros: above, reference: "INV-1" } },
  correctAdvertiser: { ...shop, body: { ...credit, amountMicros: above } },
} as const;

test.each(Object.entries(ways))("%s above the amount waits for a second person", async (name, request) => {
  const route = name.split(" ")[0] as "recordTopUp";
  const requestId = await ask(people.ann.headers, route, request as (typeof ways)["recordTopUp"]);
  expect(await approve(people.bea.headers, requestId)).toMatchObject({ status: 200, body: { state: "approved" } });
  await send(people.ann.headers, "setTerms", { ...shop, body: { billing: "prepaid" } });
});

test("what is not above the amount is recorded at once, and so is less credit", async () => {
  const atOnce = [
    await send(people.ann.headers, "correctAdvertiser", { ...shop, body: { ...credit, amountMicros: 100e6 } }),
    await send(people.ann.headers, "recordTopUp", { ...shop, body: { amountMicros: 100e6, reference: "INV-2" } }),
    await send(people.ann.headers, "setTerms", { ...shop, body: { billing: "credit", creditLimitMicros: 100e6 } }),
    await send(people.ann.headers, "setTerms", { ...shop, body: { billing: "prepaid" } }),
  ];
  expect(statuses(atOnce)).toEqual([200, 200, 201, 201]);
});

test("a new advertiser, also one of a campaign or a buyer, is prepaid until its credit is approved", async () => {
  const terms = { billing: "credit", creditLimitMicros: null };
  await send(people.ann.headers, "addAdvertiser", { body: { name: "Mill", ...terms } });
  const body = { formats: ["direct_link"], landingUrl: "https://shop.example/", newAdvertiser: terms };
  const campaign = { query: { confirmed: "true" }, body: { name: "Sale", advertiser: "Barn", ...body } };
  expect((await send(people.ann.headers, "addCampaign", campaign)).status).toBe(201);
  const buyer = { name: "Exchange", url: "https://buyer.example/openrtb2", key: null };
  expect((await send(people.ann.headers, "addBuyer", { body: buyer })).status).toBe(201);
  for (const advertiser of ["Mill", "Barn", "Exchange"]) {
    const { body } = await send(undefined, "showAdvertiserMoney", { params: { advertiser } });
    expect(body).toMatchObject({ billing: "prepaid", availableMicros: 0 });
  }
  const { requests } = (await waiting()) as { requests: { requestId: string; name: string; isOwn: boolean }[] };
  expect(requests.map(({ name, isOwn }) => [name, isOwn]).toSorted()).toEqual([
    ["Barn", true],
    ["Exchange", true],
    ["Mill", true],
  ]);
  for (const { requestId } of requests) expect((await approve(people.fin.headers, requestId)).status).toBe(200);
  const { body: money } = await send(undefined, "showAdvertiserMoney", { params: { advertiser: "Mill" } });
  expect(money).toMatchObject({ billing: "credit", availableMicros: null });
});

test("credit whose terms were changed since it was asked for is not approved, and other credit waits for the first", async () => {
  const toCredit = (creditLimitMicros: number) => ({
    ...shop,
    body: { billing: "credit" as const, creditLimitMicros },
  });
  const requestId = await ask(people.ann.headers, "setTerms", toCredit(300e6));
  const another = await send(people.fin.headers, "setTerms", toCredit(400e6));
  expect(another.body.error).toMatchObject({ code: "ANOTHER_REQUEST_WAITS" });
  await send(people.ann.headers, "setTerms", toCredit(50e6));
  expect(codes([await approve(people.bea.headers, requestId)])).toEqual(["REQUEST_OUTDATED"]);
  await send(people.ann.headers, "setTerms", { ...shop, body: { billing: "prepaid" } });
});

/** A bot with a payee to which this much is due for February. */
async function due(amountMicros: number): Promise<string> {
  const { botId } = await two.nodes[0].newBot();
  const payee = { legalName: "Quiz Studio", iban: "NL91ABNA0417164300" };
  await send(undefined, "setPayee", { params: { botId }, body: payee });
  const [from, to] = ["revenue", publisherAccount(botId)];
  await run(
    `with made as (insert into money_transactions (transaction_id) values ($1))
     insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
     values ($1, $2, 'correction', -$4::bigint, 'EUR', '2026-02-10Z'), ($1, $3, 'correction', $4, 'EUR', '2026-02-10Z')`,
    `correction ${botId}`,
    from,
    to,
    amountMicros,
  );
  await run("update money_progress set settled_until = '2026-03-01T12:00:00Z'");
  return botId;
}

const payoutsOf = (botId: string) => sumOfEntries(two.store.database, publisherAccount(botId));

test("a payout waits for a second person, and pays what was owed when it was asked for, or nothing", async () => {
  const botId = await due(150e6);
  const of = { params: { botId }, body: { month: "2026-02", reference: "SEPA 1" } };
  const requestId = await ask(people.fin.headers, "recordPayout", of);
  expect(idIn(await send(people.fin.headers, "recordPayout", of))).toBe(requestId);
  expect(await payoutsOf(botId)).toBe(150_000_000n);
  const debit = { params: { botId }, body: { amountMicros: 1e6, direction: "debit", note: "Error" } };
  const { clock } = two.nodes[0];
  const { now } = clock;
  clock.now = new Date("2026-02-20T08:00:00Z");
  await send(people.fin.headers, "correctPublisher", debit);
  clock.now = now;
  expect(codes([await approve(people.bea.headers, requestId)])).toEqual(["AMOUNT_NOT_OWED"]);
  expect(await payoutsOf(botId)).toBe(149_000_000n);
  await refuse(people.bea.headers, requestId);
  const again = await ask(people.fin.headers, "recordPayout", of);
  const all = await two.eightAtOnce(["money_transactions", "money_requests"], (node) =>
    two.send(node, operatorRequest("approveMoneyRequest", { params: { requestId: again } }), people.bea.headers),
  );
  expect(statuses(all)).toEqual([200, ...Array(7).fill(409)]);
  expect(await payoutsOf(botId)).toBe(0n);
});

test("paying all waits for a second person, and pays exactly the accounts that were asked for", async () => {
  // Each below the amount, and their sum above it.
  const [botId] = [await due(60e6), await due(60e6)];
  const requestId = await ask(people.fin.headers, "payAll", { body: { month: "2026-02" } });
  const payments = [
    { amountMicros: 60e6, payeeName: "Quiz Studio", iban: "NL91ABNA0417164300" },
    { amountMicros: 60e6 },
  ];
  expect(await waiting()).toMatchObject({ requests: [{ amountMicros: 120e6, requested: { payments } }] });
  const iban = (text: string) => send(people.fin.headers, "setPayee", { params: { botId }, body: { iban: text } });
  await iban("DE89370400440532013000");
  expect(codes([await approve(people.bea.headers, requestId)])).toEqual(["REQUEST_OUTDATED"]);
  expect(await payoutsOf(botId)).toBe(60_000_000n);
  await iban("NL91ABNA0417164300");
  expect(await approve(people.bea.headers, requestId)).toMatchObject({ status: 200, body: { state: "approved" } });
  expect(await payoutsOf(botId)).toBe(0n);
  expect((await send(undefined, "listPayoutRuns")).body.runs).toMatchObject([{ payouts: 2, amountMicros: 120e6 }]);
});

test("a correction of a publisher waits too", async () => {
  const { botId } = await two.nodes[0].newBot();
  const requestId = await ask(people.ann.headers, "correctPublisher", { params: { botId }, body: credit });
  expect((await approve(people.fin.headers, requestId)).status).toBe(200);
  expect(await payoutsOf(botId)).toBe(200_000_000n);
});

test("less protection needs a second owner, more does not, and those it protects are told", async () => {
  const set = (aboveMicros: number | null) => ["setApprovalAmount", { body: { aboveMicros } }] as const;
  const requestId = await ask(people.ann.headers, ...set(null));
  expect(codes([await approve(people.fin.headers, requestId)])).toEqual(["OWNER_NEEDED"]);
  expect(codes([await approve(people.ann.headers, requestId)])).toEqual(["OWN_REQUEST"]);
  expect(codes([await send(undefined, ...set(200e6))])).toEqual(["ANOTHER_REQUEST_WAITS"]);
  const more = await send(people.ann.headers, ...set(90e6));
  expect(more).toMatchObject({ status: 200, body: { aboveMicros: 90e6 } });
  // The amount is another one than when it was asked for.
  expect(codes([await approve(people.bea.headers, requestId)])).toEqual(["REQUEST_OUTDATED"]);
  await refuse(people.bea.headers, requestId);
  const raised = await ask(people.ann.headers, ...set(100e6));
  expect((await approve(people.bea.headers, raised)).status).toBe(200);
  const notified = await send(people.fin.headers, "listAlerts");
  expect(notified.body.alerts).toMatchObject([
    { cause: "approvals-changed", facts: { before: "90.00 EUR", after: "100.00 EUR" } },
    { cause: "approvals-changed", facts: { before: "100.00 EUR", after: "90.00 EUR" } },
    { cause: "approvals-changed", facts: { before: "–", after: "100.00 EUR" } },
  ]);
});

test("those who may approve are told that something waits, and the trail names who asked and who approved", async () => {
  const requestId = await ask(people.ann.headers, "correctAdvertiser", { ...shop, body: credit });
  const of = { now: two.nodes[0].clock.now, currency: "EUR", withPayouts: false };
  await makeAlerts(two.store.database, of);
  const notified = (await send(people.fin.headers, "listAlerts")).body.alerts as { cause: string; facts: object }[];
  expect(notified[0]).toMatchObject({ cause: "money-waiting", facts: { count: "1" } });
  await approve(people.bea.headers, requestId);
  const trail = await send(people.ann.headers, "listAuditEntries", { query: { objectId: requestId } });
  expect(trail.body.entries).toMatchObject([
    {
      operation: "approveMoneyRequest",
      actor: people.bea.personId,
      objectKind: "money-request",
      after: { state: "approved" },
    },
    { operation: "correctAdvertiser", actor: people.ann.personId, objectKind: "money-request", before: null },
  ]);
  const ofShop = await send(people.ann.headers, "listAuditEntries", { query: { objectId: advertiserId, limit: "1" } });
  expect(ofShop.body.entries).toMatchObject([{ operation: "approveMoneyRequest", objectKind: "advertiser" }]);
});

test("a caller's key that was refused records nothing, also when the amount is higher meanwhile", async () => {
  const body = { ...credit, idempotencyKey: key("refused-earlier") };
  const requestId = await ask(people.fin.headers, "correctAdvertiser", { ...shop, body });
  await refuse(people.ann.headers, requestId);
  const before = await balance();
  await run("update deployment set approval_above_micros = 900000000");
  const again = await send(people.fin.headers, "correctAdvertiser", { ...shop, body });
  await run("update deployment set approval_above_micros = 100000000");
  expect(again).toMatchObject({ status: 409, body: { error: { code: "REQUEST_DECIDED" } } });
  expect(await balance()).toBe(before);
});

test("a payment that is held is credited once, by a second person if it is large, however often it is approved", async () => {
  const before = await balance();
  const heldId = "hld_large";
  await run(
    `insert into held_payments (held_id, provider, payment_id, reason, advertiser_id, amount_micros, currency, reported_at)
     values ($1, 'standard', 'pay_1', 'reference-known', $2, 200000000, 'EUR', now())`,
    heldId,
    advertiserId,
  );
  const requestId = await ask(people.fin.headers, "creditHeldPayment", { params: { heldId } });
  expect(await balance()).toBe(before);
  const all = await Promise.all(Array.from({ length: 8 }, () => approve(people.ann.headers, requestId)));
  expect(statuses(all)).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
  expect((await balance()) - before).toBe(200_000_000n);
  const again = await send(people.fin.headers, "creditHeldPayment", { params: { heldId } });
  expect(codes([again])).toEqual(["PAYMENT_DECIDED"]);
});
