import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { type Campaign, campaignRoutes, campaignSettings, defaultSettings } from "@intermission/operator-api/campaigns";
import { type OperatorRouteName, operatorRoutes } from "@intermission/operator-api/operator-routes";
import { peopleRoutes } from "@intermission/operator-api/people";
import { clickRoutes } from "@intermission/operator-api/reviews";
import type { OperatorRoute } from "@intermission/operator-api/route";
import { expect, test } from "vitest";
import { z } from "zod";
import { advertiserNameForm, newAdvertiserForm, termsForm } from "../src/advertisers/advertiser-form-definitions.ts";
import { wordsOfAdvertiserForm } from "../src/advertisers/form-words.ts";
import { correctionForm, topUpForm } from "../src/advertisers/money-form-definitions.ts";
import { advertiserPartyForm, operatorForm, payeeForm } from "../src/advertisers/party-forms.ts";
import { contractWords, filedWords, partyWords } from "../src/advertisers/party-words.ts";
import { advertiserWords, optionsOfCorrection } from "../src/advertisers/words.ts";
import { amountForm, refusalForm as requestRefusalForm } from "../src/approvals/forms.ts";
import { botForm, newBotForm } from "../src/bots/bot-form-definition.ts";
import { botFormWords } from "../src/bots/form-words.ts";
import { endpointForm, noticesForm } from "../src/bots/webhook-forms.ts";
import { buyerForm, newBuyerForm, wordsOfBuyerForm } from "../src/buyers/buyer-forms.ts";
import {
  approvalForm,
  campaignForm,
  campaignRefusalForm,
  draftForm,
  newCampaignValues,
} from "../src/campaigns/campaign-form-definition.ts";
import { wordsOfCampaignForm } from "../src/campaigns/form-words.ts";
import { videoForm } from "../src/campaigns/video-form.ts";
import {
  creativeNameForm,
  legalLineForm,
  refusalForm,
  videoAddressForm,
} from "../src/creatives/creative-form-definitions.ts";
import { accountForm } from "../src/filings/account-form.ts";
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
import type { FormWords } from "../src/forms/form-words.ts";
import { payAllForm, payoutForm } from "../src/payouts/payout-form-definition.ts";
import { personFormWords } from "../src/people/form-words.ts";
import { emailForm, invitationForm, isPersonField, roleForm } from "../src/people/person-form-definitions.ts";
import { publisherCorrectionForm } from "../src/publisher/correction-form-definition.ts";
import { publisherCorrectionWords } from "../src/publisher/correction-words.ts";
import { channelForm, taskBotForm } from "../src/tasks/task-forms.ts";
import { type Language, languageNames, languages } from "../src/words/languages.ts";

interface ConsoleForm {
  readonly form: FormDefinition;
  readonly routes: readonly OperatorRouteName[];
  /** Of its choices. */
  readonly wordsOf?: (language: Language) => Pick<FormWords, "options">;
}

/** Each form of the console, with the routes whose bodies it fills in. */
const forms: Readonly<Record<string, ConsoleForm>> = {
  campaign: {
    form: campaignForm,
    routes: ["addCampaign", "updateCampaign"],
    wordsOf: (language) => wordsOfCampaignForm(language, "credit"),
  },
  "draft of a campaign": {
    form: draftForm,
    routes: ["draftCampaign", "reviseCampaign"],
    wordsOf: (language) => wordsOfCampaignForm(language, "credit"),
  },
  "approval of a campaign": {
    form: approvalForm,
    routes: ["approveCampaign"],
    wordsOf: (language) => wordsOfCampaignForm(language, "credit"),
  },
  "refusal of a campaign": { form: campaignRefusalForm, routes: ["refuseCampaign"] },
  "video of a campaign": { form: videoForm, routes: ["attachCreative"] },
  bot: { form: botForm, routes: ["updateBot"], wordsOf: (language) => botFormWords[language] },
  "new bot": { form: newBotForm, routes: ["addBot"] },
  buyer: { form: buyerForm, routes: ["updateBuyer"], wordsOf: wordsOfBuyerForm },
  "new buyer": { form: newBuyerForm, routes: ["addBuyer"], wordsOf: wordsOfBuyerForm },
  "new advertiser": {
    form: newAdvertiserForm,
    routes: ["addAdvertiser"],
    wordsOf: (language) => wordsOfAdvertiserForm(language, "credit"),
  },
  "name of an advertiser": { form: advertiserNameForm, routes: ["updateAdvertiser"] },
  invitation: { form: invitationForm, routes: ["invitePerson"], wordsOf: personFormWords },
  "e-mail of a person": { form: emailForm, routes: ["changeEmail"], wordsOf: personFormWords },
  "role of a person": { form: roleForm, routes: ["changeRole"], wordsOf: personFormWords },
  "name of a creative": { form: creativeNameForm, routes: ["renameCreative"] },
  "legal line of a creative": { form: legalLineForm, routes: ["setLegalLine"] },
  "refusal of a creative": { form: refusalForm, routes: ["refuseCreative", "refuseBoughtCreative"] },
  "video by address": { form: videoAddressForm, routes: ["addVideoByAddress"] },
  "limit of an endpoint": { form: endpointForm, routes: ["limitEndpoint"] },
  "receivers of notices": { form: noticesForm, routes: ["setNotices"] },
  "top-up": { form: topUpForm, routes: ["recordTopUp"] },
  correction: {
    form: correctionForm,
    routes: ["correctAdvertiser"],
    wordsOf: (language) => ({ options: optionsOfCorrection(advertiserWords[language]) }),
  },
  "correction of a publisher": {
    form: publisherCorrectionForm,
    routes: ["correctPublisher"],
    wordsOf: (language) => publisherCorrectionWords[language],
  },
  payout: { form: payoutForm, routes: ["recordPayout"] },
  "terms of an advertiser": {
    form: termsForm,
    routes: ["setTerms"],
    wordsOf: (language) => wordsOfAdvertiserForm(language, "credit"),
  },
  "payouts of a month": { form: payAllForm, routes: ["payAll"] },
  "details of the operator": { form: operatorForm, routes: ["setOperatorParty"], wordsOf: partyOptions },
  payee: { form: payeeForm, routes: ["setPayee"], wordsOf: partyOptions },
  "amount that a second person approves": { form: amountForm, routes: ["setApprovalAmount"] },
  "refusal of a request": { form: requestRefusalForm, routes: ["refuseMoneyRequest"] },
  "details of an advertiser": {
    form: advertiserPartyForm,
    routes: ["setAdvertiserParty"],
    wordsOf: partyOptions,
  },
  "operator of ad data": { form: accountForm, routes: ["setOrd"] },
  "task bot": { form: taskBotForm, routes: ["addTaskBot"] },
  channel: { form: channelForm, routes: ["addTaskChannel"] },
};

function partyOptions(language: Language) {
  const words = partyWords[language];
  return { options: { language: languageNames, ...filedWords(words).options, ...contractWords(words).options } };
}

const ofFilters = "the filters of the list";
const ofSignIn = "the screens of sign-in";
const ofMail = "the link of the mail";
const ofPressed = "the button that is pressed";
const ofCommands = "the command line";
const unseen = "what the browser answers with";

/** Where the console sets the fields of the other bodies; for fields that it does not set, why. */
const elsewhereSet: { readonly [Name in OperatorRouteName]?: Readonly<Record<string, string>> } = {
  addUploadedVideo: { uploadId: "the upload", name: "the name of its file" },
  addVastTag: { url: "the field of the tester" },
  tryVastTag: { url: "the field of the tester" },
  approveCreative: { revision: "of what the reader sees" },
  reopenReview: { revision: "of what the reader sees" },
  approveBoughtCreative: { revision: "of what the reader sees" },
  reopenBoughtCreative: { revision: ofCommands },
  forecastViews: Object.fromEntries(
    fieldsOf(campaignRoutes.forecastViews.body).map(({ name }) => [name, "the form of the campaign"]),
  ),
  raiseBudget: { totalBudgetMicros: "the list's field", dailyBudgetMicros: "the list's field" },
  revertCampaign: { entryId: ofPressed },
  setOrder: { mode: "the panel of the order", campaignIds: "the panel of the order" },
  // Running servers keep the one that they started with.
  setCurrency: { currency: ofCommands },
  syncOrd: { month: "the last month that is over", isDryRun: ofCommands },
  replayDeliveries: { scope: "the window", since: "the window", until: "the window", after: "the page before" },
  enableEndpoint: { skipTest: ofPressed },
  testEndpoint: { event: "rewarded", userId: ofCommands },
  reverseConversion: { clickId: ofPressed, event: ofPressed, conversionId: ofPressed },
  setTaskUpdates: { updatesBy: ofPressed },
  mailSavedReport: { every: "the window", hour: "the window", timeZone: "the window", hasCsv: "the window" },
  saveReport: { name: "the window", search: "the address of the report" },
  signIn: { email: ofSignIn, password: ofSignIn, code: ofSignIn },
  openSignInLink: { token: ofSignIn },
  openInvitation: { token: ofSignIn },
  acceptInvitation: { token: ofSignIn, password: ofSignIn, code: ofSignIn },
  createSignInLink: { email: ofCommands },
  startOpenIdSignIn: { providerId: ofPressed, invitation: ofSignIn },
  finishOpenIdSignIn: { query: ofSignIn },
  signInWithPasskey: { credential: unseen },
  startLinkingIdentity: { providerId: ofPressed },
  linkIdentity: { query: ofSignIn },
  addPasskey: { name: "the window", credential: unseen },
  renamePasskey: { name: "the window" },
  changePassword: { currentPassword: "the window", code: "the window", password: "the window" },
  requestEmailChange: { email: "the window", currentPassword: "the window", code: "the window" },
  confirmEmailChange: { token: ofMail },
  undoEmailChange: { token: ofMail },
  markAlertsRead: { upTo: "the latest that is shown" },
  // The screen draws its causes and channels as a table.
  setAlertSettings: { channels: "the screen", language: "the screen", telegramChatId: "the screen" },
  ...Object.fromEntries(
    (["releaseViews", "refuseViews", "refundViews", "releaseClicks", "refuseClicks", "refundClicks"] as const).map(
      (name) => [
        name,
        Object.fromEntries(fieldsOf(clickRoutes.releaseClicks.body).map((field) => [field.name, ofFilters])),
      ],
    ),
  ),
};

/**
 * The fields of a body that a form neither shows nor leaves to another place, by their names or that of their group. What is
 * `expected` of the object is what the form has read.
 */
function missing({ fields, elsewhere }: Pick<FormDefinition, "fields" | "elsewhere">, body: z.ZodObject): string[] {
  const isElsewhere = (name: string) =>
    Object.hasOwn(elsewhere, name) || Object.hasOwn(elsewhere, name.replace(/[/].*/, ""));
  return fieldsOf(body)
    .map(({ name }) => name)
    .filter((name) => !fields.has(name) && !isElsewhere(name) && !name.startsWith("expected/"));
}

const bodies = Object.entries<OperatorRoute>(operatorRoutes).flatMap(([name, { body }]) =>
  body instanceof z.ZodObject ? [{ name: name as OperatorRouteName, body }] : [],
);

test("each body of the operator's API is an object, whose fields can be named", () => {
  const others = Object.values<OperatorRoute>(operatorRoutes).filter(
    ({ body }) => body !== undefined && body !== "file" && !(body instanceof z.ZodObject),
  );
  expect(others).toEqual([]);
  expect(bodies.length).toBeGreaterThan(70);
});

test.each(bodies)(
  "each field that $name takes is set by a form, or it is written here where else",
  ({ name, body }) => {
    const ofRoute = Object.values(forms).filter(({ routes }) => routes.includes(name));
    for (const { form } of ofRoute) expect(missing(form, body)).toEqual([]);
    if (ofRoute.length > 0) return;
    const elsewhere = elsewhereSet[name] ?? {};
    expect(missing({ fields: new Map(), elsewhere }, body)).toEqual([]);
  },
);

test.each(Object.entries(forms))(
  "the form of the %s shows each field once, and has a word for each choice",
  (_, one) => {
    const { form, wordsOf } = one;
    const shown = form.sections.flatMap(({ fields }) => [...fields]);
    expect(shown).toEqual([...new Set(shown)]);
    const choices = [...form.fields.values()].filter(({ options }) => options.length > 0);
    for (const language of languages) {
      const words = wordsOf?.(language).options ?? {};
      const wordless = choices.flatMap(({ name, options }) =>
        options.filter((option) => !words[name]?.[option]).map((option) => `${language} ${name} ${option}`),
      );
      expect(wordless).toEqual([]);
    }
  },
);

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
