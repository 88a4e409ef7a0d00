// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPlanter, type Planter, type Vocabulary } from "./plant-words.ts";

/** By the name of the type or list; files move. */
const nameOf = ({ name }: Vocabulary) => name.replace(/^.* /, "");

/** Vocabularies whose members need no handling, and why. */
const unhandled: Readonly<Record<string, string>> = {
  MomentFault: "a label: each refusal carries its sentence",
  runMode: "what is not the demo is production",
  TypedReading: "what is not refused is a value",
  MoneyLimit: "a label of a metric",
  ReplicaReading: "whatever was not read there is answered by the primary",
  StoredClickState: "shown as it is read: only `held` is decided about",
  clickState: "shown as it is read: only `held` is decided about",
  earnedDelivery: "shown by the mini-app as it is said",
  formats: "what is no page is a table",
  nextOpening: "what is no other ad is the same one",
  LoggedUserIds: "what is not plain is hashed",
  Unavailability: "answered 503, whichever it is",
  ColumnType: "types of SQL, used as they are",
  DocumentCreative: "what is not linear is left out",
  linearEvents: "read by their names: each has its trackers",
  UnmatchedReason: "shown as it is stored",
  Hold: "the video continues when none is left, whichever they were",
  Playback: "each part of the player asks for those that it shows",
  NextAd: "each part of the screen asks for the one that it shows",
  SIDES: "each is set alike",
  EventName: "events of another script: each result names its own",
  PartyAccount: "the key of a row",
  StayReason: "a label: whatever the reason, nothing changes",
  cheats: "shown in the demo's chat as it is said",
  Earning: "an answer of the testing kit to a publisher's test",
  FakeCredit: "an answer of the testing kit to a publisher's test",
  PasswordCheck: "what is not right in one of two forms signs nobody in",
  ReadValue: "what is no value and not refused counts without one",
  SentValue: "what is no value counts without one",
  RequestedBytes: "what is no part and has some of the file's bytes is the whole file",
  opens: "what is no link of Telegram opens in a browser",
  signInMethods: "listed as they are stored",
  Approval: "what is not approved asks for it",
  BoughtFormat: "no buyer is asked for what its protocol does not list",
  emailChangeStates: "a link works while its change is in the state that it belongs to",
  AdPreviewMessage: "each of the two pages reads what the other one sends, and leaves out the rest",
};

/** Where the compiler finds the fault, for vocabularies of which its message names no member, as of a function without a last return. */
const faultsWithoutName: Readonly<Record<string, string>> = {
  Grant: "apps/ad-service/src/people/guard.ts",
  ChangeRefusal: "apps/ad-service/src/campaigns/campaign-answers.ts",
  ClusterAccount: "packages/postgres/src/cluster-account.ts",
  SchemaState: "packages/postgres/src/schema-state.ts",
  ReverseConversionOutcome: "apps/ad-service/src/conversions/operator-routes.ts",
  Measure: "apps/ad-service/src/statistics/measures.ts",
  PayoutOutcome: "apps/ad-service/src/money/operator-routes.ts",
  BotChange: "apps/api/src/bots/bot-table.ts",
  WatchEvent: "apps/miniapp/src/watch-ad/watch-state.ts",
  StepName: "apps/miniapp/src/reward-status/reward-steps.tsx",
};

/** The vocabularies that decide what earns, is refused, sent or allowed. */
const deciding = [
  "roles",
  "viewSuspicions",
  "Visitor",
  "ExclusionReason",
  "viewerLimits",
  "objectKinds",
  "ClickRefusal",
  "ClickSuspicion",
  "ClickVerdict",
  "breakerState",
  "disabledReasons",
  "endpointState",
  "HealthChange",
  "deliveryState",
  "endReason",
  "visitRefusal",
  "timelineDetail",
  "vastReason",
  "generalProblems",
  "AccessDecision",
  "Milestone",
  "StoredState",
  "ViewDecision",
];

describe("pnpm check fails where a vocabulary has a member that is not handled:", () => {
  let planter: Planter;
  let named: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    const apps = ["ad-service", "api", "console", "demo-bot", "miniapp"].map((app) => `apps/${app}`);
    planter = openPlanter([...apps, "packages/publisher"]);
    named = planter.plant(planter.vocabularies);
    // On a machine with more to do it takes a minute instead of ten seconds.
  }, 600_000);
  afterAll(() => planter.close());

  test("in every vocabulary of the apps and their packages, unless it is listed here with a reason", () => {
    const silent = planter.vocabularies.filter(({ name }) => !named.has(name));
    expect(silent.map(nameOf).toSorted()).toEqual(
      [...Object.keys(unhandled), ...Object.keys(faultsWithoutName)].toSorted(),
    );
  });

  test.each(Object.entries(faultsWithoutName))("in %s, by a fault in %s", (name, file) => {
    const vocabulary = planter.vocabularies.find((one) => nameOf(one) === name);
    expect(vocabulary && planter.hasFault(vocabulary, file)).toBe(true);
  });

  test("in those that decide what earns, is refused, sent or allowed", () => {
    const handled = planter.vocabularies.filter(({ name }) => named.has(name)).map(nameOf);
    expect(deciding.filter((name) => !handled.includes(name))).toEqual([]);
  });
});
