import { operatorRequest } from "@intermission/operator-api/operator-request";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openSession } from "../src/people/sessions.ts";
import type { AppFixture } from "./fixtures/app-fixture.ts";
import { openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

let two: TwoNodes;
let made = 0;
beforeAll(async () => {
  two = await openTwoNodes();
});
afterEach(() => two.store.database.run({ name: "", text: "update people set is_disabled = true" }, []));
afterAll(() => two.close());

interface Owner {
  personId: string;
  updatedAt: string;
  headers: Record<string, string>;
}

async function owner(): Promise<Owner> {
  made += 1;
  const body = { email: `owner-${made}@ads.test`, role: "owner" };
  const invited = await two.send(two.nodes[0], operatorRequest("invitePerson", { body }));
  const { personId, updatedAt } = invited.body.person as { personId: string; updatedAt: string };
  const { now } = two.nodes[0].clock;
  const { token } = await two.store.database.transaction((tx) => openSession(tx, { personId, now }));
  return { personId, updatedAt, headers: { cookie: `__Host-operator=${token}`, origin: "http://ads.test" } };
}

async function activeOwners(): Promise<number> {
  const { body } = await two.send(two.nodes[0], operatorRequest("listPeople", { query: { role: "owner" } }));
  return (body.people as { isDisabled: boolean }[]).filter(({ isDisabled }) => !isDisabled).length;
}

const changes = {
  disable: (by: Owner, of: Owner) => (node: AppFixture) =>
    two.send(node, operatorRequest("disablePerson", { params: { personId: of.personId } }), by.headers),
  demote: (by: Owner, of: Owner) => (node: AppFixture) =>
    two.send(
      node,
      operatorRequest("changeRole", { params: { personId: of.personId }, body: { role: "analyst" } }),
      by.headers,
    ),
} as const;

test.each(["disable", "demote"] as const)(
  "of eight owners who %s each other in a ring, one at least remains",
  async (change) => {
    const ring = await Promise.all(Array.from({ length: 8 }, owner));
    const all = await two.eightAtOnce(["people"], (node, n) => {
      const [by, of] = [ring[n], ring[(n + 1) % 8]];
      if (by === undefined || of === undefined) throw new Error("the ring has eight owners");
      return changes[change](by, of)(node);
    });
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 401]));
    expect(await activeOwners()).toBeGreaterThanOrEqual(1);
  },
);

test("of eight changes of a person's role, all by who has read the same one, one is made", async () => {
  const by = await Promise.all(Array.from({ length: 8 }, owner));
  const { personId, updatedAt } = await owner();
  const named = ["ad-ops", "analyst"] as const;
  const all = await two.eightAtOnce(["people"], (node, n) => {
    const input = { params: { personId }, query: { expectedUpdatedAt: updatedAt }, body: { role: named[n % 2] } };
    return two.send(node, operatorRequest("changeRole", input), by[n]?.headers);
  });
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  expect(new Set(all.flatMap(({ body }) => body.error?.code ?? []))).toEqual(new Set(["PERSON_CHANGED"]));
  const changed = all.find(({ status }) => status === 200)?.body as { updatedAt: string; role: string };
  const again = { params: { personId }, query: { expectedUpdatedAt: changed.updatedAt }, body: { role: "owner" } };
  expect(await two.send(two.nodes[0], operatorRequest("changeRole", again), by[0]?.headers)).toMatchObject({
    status: 200,
  });
});

test("one address that is invited eight times is one person", async () => {
  const body = { email: "one@ads.test", role: "analyst" };
  const all = await two.eightAtOnce(["people"], (node) => two.send(node, operatorRequest("invitePerson", { body })));
  expect(all.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
});
