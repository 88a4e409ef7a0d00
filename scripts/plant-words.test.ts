// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPlanter, type Planter } from "./plant-words.ts";

/** Vocabularies whose members need no handling, and why. */
const unhandled: Readonly<Record<string, string>> = {
  "packages/ad-core/src/moment.ts MomentFault": "a label: each refusal carries its sentence",
  "packages/ad-core/src/player-api.ts reportRefusalReason": "counted by its word",
  "packages/operator-api/src/amounts.ts AmountFault": "a label: each refusal carries its sentence",
  "packages/operator-api/src/explain.ts exclusionReason":
    "the form of ExclusionReason, which the commands have texts for",
  "packages/server/src/settings.ts levels": "the levels of the logger's library",
  "apps/ad-service/src/ad-selection/choose-ad.ts NoAdReason": "counted by its word",
  "apps/ad-service/src/campaigns/campaign-warnings.ts CampaignWarningKind":
    "a label: each warning carries its sentence",
  "apps/ad-service/src/clicks/review-clicks.ts ClickState": "shown as it is read: only `held` is decided about",
  "apps/ad-service/src/clicks/review-clicks.ts StoredClickState": "shown as it is read: only `held` is decided about",
  "apps/ad-service/src/deliveries/endpoint-facts.ts ColumnType": "types of SQL, used as they are",
  "apps/ad-service/src/vast/drops.ts dropReasons": "a label of logs and metrics",
  "apps/ad-service/src/vast/vast-ad.ts DocumentCreative": "what is not linear is left out",
  "apps/api/src/verbs.ts RefusalReason": "decided by the database's function, shown as it is stored",
  "apps/api/src/webhook-intake/record-two-field-event.ts UnmatchedReason": "shown as it is stored",
};

/** Where the compiler finds the fault, for vocabularies of which its message names no member, as of a function without a last return. */
const faultsWithoutName: Readonly<Record<string, string>> = {
  "packages/operator-api/src/access.ts Grant": "apps/ad-service/src/people/guard.ts",
  "packages/postgres/src/cluster-account.ts ClusterAccount": "packages/postgres/src/cluster-account.ts",
  "packages/postgres/src/migrate.ts SchemaState": "packages/postgres/src/migrate.ts",
  "apps/ad-service/src/conversions/reverse-conversion.ts ReverseConversionOutcome":
    "apps/ad-service/src/conversions/operator-routes.ts",
  "apps/ad-service/src/people/people.ts InviteOutcome": "apps/ad-service/src/people/operator-routes.ts",
  "apps/ad-service/src/statistics/measures.ts Measure": "apps/ad-service/src/statistics/measures.test.ts",
  "apps/api/src/bots/bot-records.ts BotChange": "apps/api/src/bots/bot-table.ts",
};

/** The vocabularies that decide what earns, is refused, sent or allowed. */
const deciding = [
  "packages/operator-api/src/people.ts roles",
  "packages/operator-api/src/reviews.ts viewSuspicions",
  "packages/server/src/visitor.ts Visitor",
  "apps/ad-service/src/ad-selection/eligibility.ts ExclusionReason",
  "apps/ad-service/src/ad-selection/limit-of-viewer.ts viewerLimits",
  "apps/ad-service/src/audit/object-states.ts ObjectKind",
  "apps/ad-service/src/clicks/click-verdict.ts ClickRefusal",
  "apps/ad-service/src/clicks/click-verdict.ts ClickSuspicion",
  "apps/ad-service/src/clicks/click-verdict.ts ClickVerdict",
  "apps/ad-service/src/deliveries/endpoint-health.ts BreakerState",
  "apps/ad-service/src/deliveries/endpoint-health.ts DisabledReason",
  "apps/ad-service/src/deliveries/endpoint-health.ts EndpointState",
  "apps/ad-service/src/deliveries/endpoint-health.ts HealthChange",
  "apps/ad-service/src/deliveries/enqueue-webhook.ts DeliveryState",
  "apps/ad-service/src/deliveries/enqueue-webhook.ts EndReason",
  "apps/ad-service/src/people/guard.ts AccessDecision",
  "apps/ad-service/src/views/accept-progress.ts Milestone",
  "apps/ad-service/src/views/session.ts StoredState",
  "apps/ad-service/src/views/settle-view.ts ViewDecision",
];

describe("pnpm check fails where a vocabulary has a member that is not handled:", () => {
  let planter: Planter;
  let named: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    planter = openPlanter(["apps/ad-service", "apps/api", "apps/miniapp"]);
    named = planter.plant(planter.vocabularies);
    // On a machine with more to do it takes a minute instead of ten seconds.
  }, 600_000);
  afterAll(() => planter.close());

  test("in every vocabulary of the servers and their packages, unless it is listed here with a reason", () => {
    const silent = planter.vocabularies.map(({ name }) => name).filter((name) => !named.has(name));
    expect(silent.toSorted()).toEqual([...Object.keys(unhandled), ...Object.keys(faultsWithoutName)].toSorted());
  });

  test.each(Object.entries(faultsWithoutName))("in %s, by a fault in %s", (name, file) => {
    const vocabulary = planter.vocabularies.find((one) => one.name === name);
    expect(vocabulary && planter.hasFault(vocabulary, file)).toBe(true);
  });

  test("in those that decide what earns, is refused, sent or allowed", () => {
    expect(deciding.filter((name) => !named.has(name))).toEqual([]);
  });
});
