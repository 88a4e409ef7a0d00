import { operatorRequest } from "@intermission/operator-api/operator-request";
import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publisherAccount, sumOfEntries } from "../src/money/ledger.ts";
import { type NodeAnswer, openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

let two: TwoNodes;
/** Of the publishers: with a payee and enough, with too little, without a payee, with an own least amount. */
const bots = { due: "", small: "", unknown: "", patient: "" };
const iban = "NL91ABNA0417164300";
const MONTH = "2026-02";

beforeAll(async () => {
  two = await openTwoNodes({ currency: "EUR" });
  for (const name of ["due", "small", "unknown", "patient"] as const)
    bots[name] = (await two.nodes[0].newBot({ name })).botId;
  await run("update money_progress set settled_until = '2026-03-01T12:00:00Z'");
  const operator = { legalName: "Müller & Söhne", iban: "DE89 3704 0044 0532 0130 00", leastPayoutMicros: 10e6 };
  await send("setOperatorParty", { body: operator });
  for (const name of ["due", "small", "patient"] as const)
    await send("setPayee", { params: { botId: bots[name] }, body: { legalName: `Payee ${name}`, iban } });
  await send("setPayee", { params: { botId: bots.patient }, body: { leastPayoutMicros: 50e6 } });
  const owed = { due: 20_000_001, small: 9_990_000, unknown: 30e6, patient: 40e6 };
  for (const name of ["due", "small", "unknown", "patient"] as const) await earn(bots[name], owed[name], "2026-02-10");
});
afterAll(() => two.close());

const run = (text: string) => two.store.database.run({ name: "", text }, []);
const statuses = (all: readonly NodeAnswer[]) => all.map(({ status }) => status).toSorted();
const key = (n: number | string) => `key-of-a-request-${n}`;
const sumOf = (name: keyof typeof bots) => sumOfEntries(two.store.database, publisherAccount(bots[name]));

async function send<Name extends OperatorRouteName>(
  ...request: Parameters<typeof operatorRequest<Name>>
): Promise<NodeAnswer> {
  const answer = await two.send(two.nodes[0], operatorRequest(...request));
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer;
}

/** By a correction on this day. */
async function earn(botId: string, amountMicros: number, day: string): Promise<void> {
  const { clock } = two.nodes[0];
  const { now } = clock;
  clock.now = new Date(`${day}T08:00:00Z`);
  await send("correctPublisher", { params: { botId }, body: { amountMicros, direction: "credit", note: "Earned" } });
  clock.now = now;
}

async function fileOf(runId: unknown, format: string): Promise<{ status: number; text: string; type: string | null }> {
  const answer = await fetch(`${two.nodes[1].address}/operator/v1/money/payout-runs/${runId}/file?format=${format}`, {
    headers: { authorization: `Bearer ${"o".repeat(32)}` },
  });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get("content-type") };
}

test("what is below the least amount, that of the operator or an own one, is not due, one by one neither", async () => {
  const { body } = await send("listPublisherMoney", { query: { month: MONTH } });
  const listed = body.publishers as { name: string; payableMicros: number; hasPayee: boolean }[];
  expect(
    Object.fromEntries(listed.map(({ name, payableMicros, hasPayee }) => [name, [payableMicros, hasPayee]])),
  ).toEqual({
    due: [20_000_000, true],
    small: [0, true],
    unknown: [30_000_000, false],
    patient: [0, true],
  });
  const one = operatorRequest("recordPayout", {
    params: { botId: bots.small },
    body: { month: MONTH, reference: "SEPA 1" },
  });
  expect((await two.send(two.nodes[0], one)).body.error?.code).toBe("NOTHING_OWED");
});

test("of another sum than the one that is due nothing is recorded", async () => {
  const body = { month: MONTH, amountMicros: 50e6 };
  const refused = await two.send(two.nodes[0], operatorRequest("payAll", { body }));
  expect([refused.status, refused.body.error?.code]).toEqual([409, "AMOUNT_NOT_OWED"]);
  expect(await sumOf("due")).toBe(20_000_001n);
});

test("of eight requests to pay all, and payouts one by one, on two nodes, each publisher is paid once", async () => {
  const all = await two.eightAtOnce(["money_transactions"], (node, n) => {
    const one = { params: { botId: bots.due }, body: { month: MONTH, reference: "SEPA 2" } };
    return two.send(
      node,
      n === 7
        ? operatorRequest("recordPayout", one)
        : operatorRequest("payAll", { body: { month: MONTH, idempotencyKey: key(n) } }),
    );
  });
  expect(statuses(all)).toEqual([201, ...Array(7).fill(409)]);
  expect(await Promise.all([sumOf("due"), sumOf("small"), sumOf("unknown"), sumOf("patient")])).toEqual([
    1n,
    9_990_000n,
    30_000_000n,
    40_000_000n,
  ]);
});

test("under one key eight requests record one run, and each repeat gets its answer; other values are refused", async () => {
  await send("setPayee", { params: { botId: bots.unknown }, body: { legalName: "Payée, élève «Ł»", iban } });
  const same = await two.eightAtOnce(["money_transactions"], (node) =>
    two.send(node, operatorRequest("payAll", { body: { month: MONTH, idempotencyKey: key("run") } })),
  );
  expect(statuses(same)).toEqual(Array(8).fill(201));
  expect(new Set(same.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(same[0]?.body).toMatchObject({ payouts: 1, amountMicros: 30e6, reference: "Payout 2026-02" });
  const other = { month: MONTH, reference: "Another", idempotencyKey: key("run") };
  const refused = await two.send(two.nodes[0], operatorRequest("payAll", { body: other }));
  expect(refused.body.error?.code).toBe("IDEMPOTENCY_KEY_REUSED");
  const again = await two.send(two.nodes[0], operatorRequest("payAll", { body: { month: MONTH } }));
  expect(again.body.error?.code).toBe("NOTHING_DUE");
});

test("the files of a run have what was recorded, whatever is changed later", async () => {
  const { body } = await send("listPayoutRuns");
  const runs = body.runs as { runId: string; amountMicros: number }[];
  const newest = runs.find(({ amountMicros }) => amountMicros === 30e6);
  await send("setPayee", { params: { botId: bots.unknown }, body: { legalName: "Somebody else", iban: null } });
  const sepa = await fileOf(newest?.runId, "sepa");
  expect([sepa.status, sepa.type]).toEqual([200, "text/xml; charset=utf-8"]);
  expect(sepa.text).toContain("<Cdtr><Nm>Payee, eleve L</Nm></Cdtr>");
  expect(sepa.text).toContain(`<EndToEndId>${MONTH}-${bots.unknown}</EndToEndId>`);
  expect(sepa.text).toContain("<CtrlSum>30.00</CtrlSum>");
  const csv = await fileOf(newest?.runId, "csv");
  expect(csv.text).toContain(`${MONTH},${bots.unknown},"Payée, élève «Ł»",${iban},30.00,EUR,Payout 2026-02,`);
  expect((await fileOf("run_none", "csv")).status).toBe(404);
});

test("without the operator's account there is no file of SEPA", async () => {
  await send("setOperatorParty", { body: { iban: null } });
  await earn(bots.due, 20e6, "2026-02-20");
  await run("update money_progress set settled_until = '2026-04-02'");
  for (const node of two.nodes) node.clock.now = new Date("2026-04-02T00:00:00Z");
  const { body } = await send("payAll", { body: { month: "2026-03" } });
  const refused = await fileOf(body.runId, "sepa");
  expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([409, "SEPA_DEBTOR_NEEDED"]);
  expect((await fileOf(body.runId, "csv")).status).toBe(200);
});

test("of eight changes of one payee, all by who has read the same, one is made", async () => {
  const seen = await send("showPayee", { params: { botId: bots.small } });
  const all = await two.eightAtOnce(["money_parties"], (node, n) => {
    const body = { legalName: `Payee ${n}`, expected: seen.body };
    return two.send(node, operatorRequest("setPayee", { params: { botId: bots.small }, body }));
  });
  expect(statuses(all)).toEqual([200, ...Array(7).fill(409)]);
});
