// @module-tag enlarged
import { randomInt } from "node:crypto";
import { inspect } from "node:util";
import { verify, verifyStandardWebhook } from "@intermission/ad-core/signature";
import { parseWebhookEvent } from "@intermission/ad-core/webhook-event";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Chance, forgeWebhook } from "./forge-webhook.ts";

const isLong = process.env.LONG_TESTS === "true";

/** Verifies one forgery and throws if a verdict is wrong. Returns which of the two signatures were accepted. */
function judgeOne(chance: Chance) {
  const { received, isXSignatureGenuine, isStandardGenuine } = forgeWebhook(chance);
  const { headers, body, tokens, now } = received;
  const isXAccepted = verify(body, headers["x-signature"], tokens);
  const standard = verifyStandardWebhook({ headers, body, tokens, now: new Date(now * 1000) }).outcome;
  if (isXAccepted !== isXSignatureGenuine || (standard === "valid") !== isStandardGenuine) {
    const expected = { isXSignatureGenuine, isStandardGenuine };
    throw new Error(`wrong verdict: ${inspect({ received, isXAccepted, standard, expected }, { depth: 4 })}`);
  }
  parseWebhookEvent(body);
  return { isXAccepted, isStandardAccepted: standard === "valid" };
}

/** mulberry32: fast, and deterministic for a seed. */
function chanceOf(seed: number): Chance {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

const tries = isLong ? 1_000_000 : 10_000;
const seed = isLong ? randomInt(2 ** 31) : 1;

test(`of ${tries} changed webhooks exactly the genuine ones are accepted, and none throws`, () => {
  const chance = chanceOf(seed);
  const accepted = { x: 0, standard: 0 };
  for (let one = 0; one < tries; one += 1) {
    try {
      const verdicts = judgeOne(chance);
      accepted.x += Number(verdicts.isXAccepted);
      accepted.standard += Number(verdicts.isStandardAccepted);
    } catch (error) {
      throw new Error(`try ${one} of seed ${seed}`, { cause: error });
    }
  }
  // An unchanged header is still genuine, so both verdicts of both signatures occur often.
  for (const number of Object.values(accepted)) {
    expect(number).toBeGreaterThan(tries / 10);
    expect(number).toBeLessThan(tries * 0.9);
  }
}, 600_000);

test("verdicts are also correct with fast-check, which shrinks a counterexample", { tags: "long" }, () => {
  fc.assert(
    fc.property(fc.gen(), (draw) => void judgeOne((bound) => draw(fc.nat, { max: bound - 1 }))),
    { numRuns: isLong ? 20_000 : 2000 },
  );
});
