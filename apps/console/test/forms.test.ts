import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import { type Campaign, campaignRoutes, campaignSettings, defaultSettings } from "@intermission/operator-api/campaigns";
import { creativeRoutes } from "@intermission/operator-api/creatives";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { moneyRoutes } from "@intermission/operator-api/money";
import { noticeRoutes } from "@intermission/operator-api/notices";
import { advertiserParty, operatorParty, payee } from "@intermission/operator-api/parties";
import { payoutRunRoutes } from "@intermission/operator-api/payout-runs";
import { peopleRoutes } from "@intermission/operator-api/people";
import { publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import { expect, test } from "vitest";
import { z } from "zod";
import { advertiserNameForm, newAdvertiserForm, termsForm } from "../src/advertisers/advertiser-form-definitions.ts";
import { correctionForm, topUpForm } from "../src/advertisers/money-form-definitions.ts";
import { advertiserPartyForm, operatorForm, payeeForm } from "../src/advertisers/party-forms.ts";
import { botForm, newBotForm } from "../src/bots/bot-form-definition.ts";
import { endpointForm, noticesForm } from "../src/bots/webhook-forms.ts";
import {
  approvalForm,
  campaignForm,
  campaignRefusalForm,
  draftForm,
  newCampaignValues,
} from "../src/campaigns/campaign-form-definition.ts";
import {
  creativeNameForm,
  legalLineForm,
  refusalForm,
  videoAddressForm,
} from "../src/creatives/creative-form-definitions.ts";
import {
  changedFields,
  defineForm,
  type FormDefinition,
  faultsByField,
  readFields,
  splitTyped,
  typedValuesOf,
  withGroups,
} from "../src/forms/form-definition.ts";
import { fieldsOf } from "../src/forms/form-fields.ts";
import { payAllForm, payoutForm } from "../src/payouts/payout-form-definition.ts";
import { invitationForm, isPersonField, roleForm } from "../src/people/person-form-definitions.ts";
import { publisherCorrectionForm } from "../src/publisher/correction-form-definition.ts";

/** Each form of the console, with the bodies of the routes that it fills in. */
const forms: readonly [string, FormDefinition, readonly z.ZodObject[]][] = [
  ["campaign", campaignForm, [campaignRoutes.addCampaign.body, campaignRoutes.updateCampaign.body]],
  [
    "draft of a campaign",
    draftForm,
    [campaignReviewRoutes.draftCampaign.body, campaignReviewRoutes.reviseCampaign.body],
  ],
  ["approval of a campaign", approvalForm, [campaignReviewRoutes.approveCampaign.body]],
  ["refusal of a campaign", campaignRefusalForm, [campaignReviewRoutes.refuseCampaign.body]],
  ["bot", botForm, [botRoutes.updateBot.body]],
  ["new bot", newBotForm, [botRoutes.addBot.body]],
  ["new advertiser", newAdvertiserForm, [advertiserRoutes.addAdvertiser.body]],
  ["name of an advertiser", advertiserNameForm, [advertiserRoutes.updateAdvertiser.body]],
  ["invitation", invitationForm, [peopleRoutes.invitePerson.body]],
  ["role of a person", roleForm, [peopleRoutes.changeRole.body]],
  ["name of a creative", creativeNameForm, [creativeRoutes.renameCreative.body]],
  ["legal line of a creative", legalLineForm, [creativeRoutes.setLegalLine.body]],
  ["refusal of a creative", refusalForm, [creativeRoutes.refuseCreative.body]],
  ["video by address", videoAddressForm, [creativeRoutes.addVideoByAddress.body]],
  ["limit of an endpoint", endpointForm, [endpointRoutes.limitEndpoint.body]],
  ["receivers of notices", noticesForm, [noticeRoutes.setNotices.body]],
  ["top-up", topUpForm, [moneyRoutes.recordTopUp.body]],
  ["correction", correctionForm, [moneyRoutes.correctAdvertiser.body]],
  ["correction of a publisher", publisherCorrectionForm, [publisherMoneyRoutes.correctPublisher.body]],
  ["payout", payoutForm, [publisherMoneyRoutes.recordPayout.body]],
  ["terms of an advertiser", termsForm, [moneyRoutes.setTerms.body]],
  ["payouts of a month", payAllForm, [payoutRunRoutes.payAll.body]],
  ["details of the operator", operatorForm, [operatorParty]],
  ["payee", payeeForm, [payee]],
  ["details of an advertiser", advertiserPartyForm, [advertiserParty]],
];

/** The fields of a body that a form neither shows nor leaves to another place. */
function missing({ fields, elsewhere }: FormDefinition, body: z.ZodObject): string[] {
  return fieldsOf(body)
    .map(({ name }) => name)
    .filter((name) => !fields.has(name) && !Object.hasOwn(elsewhere, name));
}

test.each(forms)("each setting that a request of the %s can name has a field, once", (_, form, bodies) => {
  for (const body of bodies) expect(missing(form, body)).toEqual([]);
  const shown = form.sections.flatMap(({ fields }) => [...fields]);
  expect(shown).toEqual([...new Set(shown)]);
});

test("a setting that is added to a schema, and to no form, is named", () => {
  const body = campaignSettings.extend({
    tone: z.string().optional(),
    targeting: campaignSettings.shape.targeting.extend({ timbre: z.boolean().optional() }),
  });
  expect(missing(campaignForm, body)).toEqual(["targeting/timbre", "tone"]);
});

const now = new Date("2030-05-06T07:08:09Z");
const campaign: Campaign = {
  ...defaultSettings,
  campaignId: "cmp_1",
  advertiserId: "adv_1",
  name: "Spring",
  advertiser: "Shop",
  formats: ["rewarded", "direct_link"],
  status: "active",
  pausedBy: null,
  review: null,
  reviewReason: null,
  submittedAt: null,
  approvedAt: null,
  startsAt: now,
  endsAt: null,
  landingUrl: "https://shop.example/",
  callToAction: "Buy",
  weight: 3,
  category: "games",
  viewPriceMicros: 12_500,
  dailyBudgetMicros: 5e6,
  userCap: 2,
  userCapSeconds: 86_400,
  dailyViewCap: 1000,
  targeting: {
    languages: ["pt", "en"],
    countries: ["DE"],
    platforms: ["ios"],
    premium: false,
    bots: ["7000000001"],
    excludedBotCategories: ["betting", "dating"],
    hours: [22, 23, 0, 1],
    weekdays: [6, 7],
  },
  creatives: [],
  createdAt: now,
  updatedAt: now,
};
const shown = typedValuesOf(campaignForm, campaign);
const names = Object.keys(campaignSettings.shape);
const settingNames = [...campaignForm.fields.keys()].filter((name) => names.includes(name.split("/")[0] ?? ""));
const update = { schema: campaignRoutes.updateCampaign.body, language: "en" } as const;

test("what a form shows of an object is read as what the object has", async () => {
  const read = await readFields(campaignForm, shown, { ...update, names: settingNames });
  if (read.outcome !== "body") throw new Error(JSON.stringify(read.faults));
  const stored = Object.fromEntries(Object.entries(campaign).filter(([name]) => names.includes(name)));
  // A moment is typed to the minute.
  const startsAt = "2030-05-06T07:08:00.000Z";
  const targeting = { ...campaign.targeting, languages: ["en", "pt"], hours: [0, 1, 22, 23] };
  expect(JSON.parse(JSON.stringify(read.body))).toEqual({ ...stored, startsAt, targeting });
});

test("a request says nothing about settings that were not typed into; of a group, it says all", async () => {
  const typed = { ...shown, weight: " 4 ", "targeting/countries": [], "targeting/hours": ["9", "10"] };
  const changed = changedFields(shown, typed);
  expect(changed).toEqual(["weight", "targeting/countries", "targeting/hours"].toSorted((a, b) => place(a) - place(b)));
  const sent = withGroups([...campaignForm.fields.keys()], changed);
  const read = await readFields(campaignForm, typed, { ...update, names: sent });
  const { countries: _, ...others } = campaign.targeting;
  const targeting = { ...others, languages: ["en", "pt"], hours: [9, 10] };
  const body = read.outcome === "body" ? JSON.parse(JSON.stringify(read.body)) : read.faults;
  expect(body).toEqual({ weight: 4, targeting });
});

const order: string[] = [...campaignForm.fields.keys()];
const place = (name: string) => order.indexOf(name);

test("a field whose control holds a list starts with a list, so that a draft with it is restored", () => {
  expect(newCampaignValues.creativeIds).toEqual([]);
});

test("words stand beside one another, and other texts on lines of their own", () => {
  expect(shown["targeting/excludedBotCategories"]).toBe("betting, dating");
  expect(shownBot.blockedAdvertisers).toBe("Shop, Ltd\nTwin Mills");
});

test("of what was typed, only the fields that another person has set otherwise are in conflict", () => {
  const newest = { ...shown, weight: "7", priority: "high", category: "sports" };
  const values = { ...shown, weight: "9", priority: "high", name: "Summer" };
  const split = splitTyped({ before: shown, newest, values });
  expect(split.conflicts).toEqual(["weight"]);
  expect(split.own.toSorted()).toEqual(["name", "priority"]);
  expect(splitTyped({ before: shown, newest: shown, values }).conflicts).toEqual([]);
});

test("an order of chosen values is no change", () => {
  expect(changedFields(shown, { ...shown, "targeting/languages": ["pt", "en"] })).toEqual([]);
});

test.each([
  ["weight", "", "Must be a number."],
  ["weight", "0", "Must be 1 or more."],
  ["weight", "2.5", "Must be a whole number."],
  ["userCapSeconds", "5", "Must be 60 or more."],
  ["dailyViewCap", "many", "Must be a number."],
  ["viewPriceMicros", "1,5", "write 1.5"],
  ["landingUrl", "shop", "in full"],
  ["targeting/botCategories", "games, Big Words", "small letters"],
  ["category", "Big Words", "small letters"],
  ["name", " ", "Must not be empty."],
] as const)("%s %j is refused at its field, in both languages", async (name, text, sentence) => {
  const read = await readFields(campaignForm, { ...shown, [name]: text }, { ...update, names: [name] });
  if (read.outcome !== "refused") throw new Error("it was accepted");
  expect(Object.keys(read.faults)).toEqual([name]);
  expect(read.faults[name]?.in("en").toLowerCase()).toContain(sentence.toLowerCase());
  expect(read.faults[name]?.in("ru")).toMatch(/[а-я]/);
});

const bot: Bot = {
  botId: "7000000001",
  codePrefix: "abcd",
  name: "Quiz",
  username: "quiz_bot",
  webhookUrl: "https://quiz.example/webhooks",
  publisherApiUrl: null,
  deliveryMode: "at-least-once",
  codeLifetimeSeconds: 3600,
  cooldownSeconds: 60,
  dailyCap: 20,
  testers: ["42"],
  category: "games",
  timeZone: "UTC",
  blockedCategories: ["betting", "dating"],
  blockedAdvertisers: ["Shop, Ltd", "Twin Mills"],
  suspiciousViews: "pay",
  suspiciousClicks: "hold-farms",
  payPerCode: "once",
  rewardPerView: 5,
  rewardPerClick: null,
  rewardUnit: { en: { one: "coin", other: "coins" }, ja: { other: "コイン" } },
  skipOffer: false,
  privacyUrl: "https://quiz.example/privacy#ads",
  closeWhenCredited: true,
  includeRevenue: false,
  hasTasks: false,
  sendsInterstitials: false,
  sendsClientNotes: true,
  interstitialSeconds: 60,
  appOrigins: ["https://game.example"],
  isSuspended: false,
  pictureFileName: null,
  unitIconFileName: null,
  createdAt: now,
  updatedAt: now,
};
const shownBot = typedValuesOf(botForm, bot);
const ofBot = { schema: botRoutes.updateBot.body, language: "en" } as const;

test("what the form of a bot shows is read as what the bot has, and empty fields are cleared", async () => {
  const all = [...botForm.fields.keys()];
  const { testers: _, isSuspended: __, pictureFileName: ___, unitIconFileName: ____, ...others } = bot;
  const { botId, codePrefix, createdAt, updatedAt, ...settings } = others;
  expect(await readFields(botForm, shownBot, { ...ofBot, names: all })).toEqual({ outcome: "body", body: settings });
  const typed = {
    ...shownBot,
    username: " @new_quiz ",
    dailyCap: "30",
    webhookUrl: "",
    rewardUnit: "",
    skipOffer: true,
  };
  const names = changedFields(shownBot, typed);
  const body = { username: "new_quiz", dailyCap: 30, webhookUrl: null, rewardUnit: null, skipOffer: true };
  expect(await readFields(botForm, typed, { ...ofBot, names })).toEqual({ outcome: "body", body });
});

test.each([
  ["dailyCap", "0", "Must be 1 or more."],
  ["timeZone", "Mars", "time zone"],
  ["blockedCategories", "betting, Big Words", "small letters"],
  ["rewardUnit", "en one=coin", "Write this line as en: one=coin, other=coins"],
  ["rewardUnit", "en: one=coin", "The plural forms of en: one, other."],
  ["rewardUnit", "ja: other=", "Write this line as"],
] as const)("of a bot, %s %j is refused at its field, in both languages", async (name, text, sentence) => {
  const read = await readFields(botForm, { ...shownBot, [name]: text }, { ...ofBot, names: [name] });
  if (read.outcome !== "refused") throw new Error("it was accepted");
  expect(Object.keys(read.faults)).toEqual([name]);
  expect(read.faults[name]?.in("en")).toContain(sentence);
  expect(read.faults[name]?.in("ru")).toMatch(/[а-я]/);
});

test("a role is sent with what it sees, and with nothing that an earlier choice has left", async () => {
  const shown = typedValuesOf(roleForm, { role: "publisher", advertiser: "adv_1", botIds: ["7000000001"] });
  const bodyOf = async (role: string) => {
    const values = { ...shown, role };
    const names = [...roleForm.fields.keys()].filter((name) => isPersonField(name, values));
    const read = await readFields(roleForm, values, { schema: peopleRoutes.changeRole.body, language: "en", names });
    return read.outcome === "body" ? read.body : read.faults;
  };
  expect(await bodyOf("publisher")).toEqual({ role: "publisher", botIds: ["7000000001"] });
  expect(await bodyOf("advertiser")).toEqual({ role: "advertiser", advertiser: "adv_1" });
  expect(await bodyOf("analyst")).toEqual({ role: "analyst" });
});

test("the server's faults stand at their fields, those of entries at their list, and of unknown ones under their path", () => {
  const fault = (text: string) => ({ in: () => text });
  const faults = {
    "targeting.hours.3": fault("hour"),
    targeting: fault("bots"),
    "newAdvertiser.creditLimitMicros": fault("limit"),
    userCap: fault("half"),
    unheardOf: fault("newer"),
  };
  expect(Object.keys(faultsByField(campaignForm, faults)).toSorted()).toEqual(
    ["targeting/hours", "targeting/bots", "newAdvertiser/creditLimitMicros", "unheardOf", "userCap"].toSorted(),
  );
});

test("a form does not name what its schema has not", () => {
  const schema = z.object({ name: z.string() });
  // @ts-expect-error the compiler says so, too
  expect(() => defineForm(schema, { sections: [{ fields: ["nmae"] }] })).toThrow("the schema has no field nmae");
});
