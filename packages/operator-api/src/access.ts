import type { ReportReader } from "./report-figures.ts";

export const roles = ["owner", "ad-ops", "finance", "analyst", "advertiser", "publisher"] as const;
export type Role = (typeof roles)[number];

/**
 * How far a role reaches on a route: `all` objects, or only requests about an own one: a bot (`botId`), an event of an own
 * bot (`eventId`), a campaign or a creative of the own advertiser (`campaignId`, `creativeId`), or the advertiser itself (`advertiser`).
 */
export type Grant = "all" | "own-bot" | "own-event" | "own-campaign" | "own-creative" | "own-advertiser";

/**
 * Who may use a route: a role without a grant is refused. `anyone` also signed out; `signed-in` every role; `freshly-signed-in`
 * every role within `FRESH_SIGN_IN_MINUTES` of signing in, since what it adds outlives the session.
 */
export type Access = "anyone" | "signed-in" | "freshly-signed-in" | { readonly [One in Role]?: Grant };

/** How long ago a person may have signed in who adds a way to sign in. */
export const FRESH_SIGN_IN_MINUTES = 10;

const owner = { owner: "all" } as const satisfies Access;
/** Without a role, for OPERATOR_TOKEN and the socket in the data folder. */
const commandLine = {} as const satisfies Access;
const staff = { ...owner, "ad-ops": "all" } as const satisfies Access;
const readers = { ...staff, analyst: "all" } as const satisfies Access;
/** Who keeps the accounts of advertisers and publishers, and who reads them. */
const bookkeepers = { ...staff, finance: "all" } as const satisfies Access;
const moneyReaders = { ...readers, finance: "all" } as const satisfies Access;
const ownBot = { publisher: "own-bot" } as const satisfies Access;
const ownEvent = { publisher: "own-event" } as const satisfies Access;
const ownCampaign = { advertiser: "own-campaign" } as const satisfies Access;
const ownCreative = { advertiser: "own-creative" } as const satisfies Access;
const ownAdvertiser = { advertiser: "own-advertiser" } as const satisfies Access;

/**
 * One rule for each route, as a test compares; the routes' own schemas need the roles from here. The command line and OPERATOR_TOKEN may use all of them. The reports of publishers
 * and advertisers leave out the money of the other side.
 */
export const accessOf = {
  addBot: staff,
  listBots: moneyReaders,
  showBot: { ...readers, ...ownBot },
  listAppOrigins: { ...readers, ...ownBot },
  // Of an own one only what `publisherSettings` names.
  updateBot: { ...staff, ...ownBot },
  suspendBot: staff,
  resumeBot: staff,
  setBotPicture: staff,
  removeBotPicture: staff,
  createToken: { ...staff, ...ownBot },
  activateToken: { ...staff, ...ownBot },
  revokeToken: { ...staff, ...ownBot },
  uploadVideo: { ...staff, ...ownAdvertiser },
  addUploadedVideo: { ...staff, ...ownAdvertiser },
  listUploads: "signed-in",
  removeUpload: "signed-in",
  readSamples: staff,
  addVideoByAddress: staff,
  addVastTag: staff,
  tryVastTag: staff,
  listCreatives: { ...readers, ...ownAdvertiser },
  readReviewQueue: readers,
  approveCreative: staff,
  refuseCreative: staff,
  reopenReview: staff,
  submitCreative: { ...staff, ...ownCreative },
  listAdReports: readers,
  showCreative: { ...readers, ...ownCreative },
  renameCreative: { ...staff, ...ownCreative },
  setLegalLine: { ...staff, ...ownCreative },
  setPoster: { ...staff, ...ownCreative },
  setCaptions: { ...staff, ...ownCreative },
  removeCaptions: { ...staff, ...ownCreative },
  addCampaign: staff,
  countCampaigns: { ...readers, ...ownAdvertiser },
  forecastViews: readers,
  listCampaigns: { ...readers, ...ownAdvertiser },
  showCampaign: { ...readers, ...ownCampaign },
  updateCampaign: staff,
  raiseBudget: { ...staff, ...ownCampaign },
  revertCampaign: staff,
  pauseCampaign: { ...staff, ...ownCampaign },
  resumeCampaign: { ...staff, ...ownCampaign },
  // An advertiser archives only campaigns that it drafted.
  archiveCampaign: { ...staff, ...ownCampaign },
  attachCreative: { ...staff, ...ownCampaign },
  detachCreative: { ...staff, ...ownCampaign },
  draftCampaign: { ...staff, ...ownAdvertiser },
  reviseCampaign: { ...staff, ...ownCampaign },
  submitCampaign: { ...staff, ...ownCampaign },
  approveCampaign: staff,
  refuseCampaign: staff,
  listBuyers: readers,
  showBuyer: readers,
  addBuyer: staff,
  updateBuyer: staff,
  tryBuyer: staff,
  readBids: staff,
  showBids: moneyReaders,
  listBoughtCreatives: readers,
  approveBoughtCreative: staff,
  refuseBoughtCreative: staff,
  reopenBoughtCreative: staff,
  explainOrder: readers,
  setOrder: staff,
  showStatus: readers,
  showLog: "anyone",
  showSystem: staff,
  showCurrency: moneyReaders,
  setCurrency: owner,
  listAdvertisers: moneyReaders,
  issuePostbackKey: { ...staff, ...ownAdvertiser },
  showAdvertiser: { ...moneyReaders, ...ownAdvertiser },
  addAdvertiser: bookkeepers,
  updateAdvertiser: bookkeepers,
  archiveAdvertiser: staff,
  restoreAdvertiser: staff,
  listAdvertiserMoney: moneyReaders,
  showAdvertiserMoney: { ...moneyReaders, ...ownAdvertiser },
  setTerms: bookkeepers,
  recordTopUp: bookkeepers,
  correctAdvertiser: bookkeepers,
  listAdvertiserEntries: { ...moneyReaders, ...ownAdvertiser },
  correctPublisher: bookkeepers,
  listHeldPayments: moneyReaders,
  creditHeldPayment: bookkeepers,
  dismissHeldPayment: bookkeepers,
  listStatements: moneyReaders,
  listAdvertiserStatements: { ...moneyReaders, ...ownAdvertiser },
  readAdvertiserStatement: { ...moneyReaders, ...ownAdvertiser },
  listPublisherStatements: { ...moneyReaders, ...ownBot },
  readPublisherStatement: { ...moneyReaders, ...ownBot },
  readStatementProof: { ...moneyReaders, ...ownAdvertiser },
  listPublisherMoney: moneyReaders,
  readEarnings: { ...moneyReaders, ...ownBot },
  recordPayout: bookkeepers,
  showOperatorParty: moneyReaders,
  setOperatorParty: bookkeepers,
  showTopUpWays: { ...moneyReaders, ...ownAdvertiser },
  showAdvertiserParty: { ...moneyReaders, ...ownAdvertiser },
  setAdvertiserParty: bookkeepers,
  showPayee: { ...moneyReaders, ...ownBot },
  setPayee: bookkeepers,
  showOrd: moneyReaders,
  setOrd: owner,
  listFilings: moneyReaders,
  syncOrd: bookkeepers,
  payAll: bookkeepers,
  listPayoutRuns: moneyReaders,
  readPayoutRun: moneyReaders,
  listPublisherEntries: { ...moneyReaders, ...ownBot },
  explainChoice: readers,
  listLatestEventsOfBot: { ...readers, ...ownBot },
  listEventsOfBot: { ...readers, ...ownBot },
  listDeliveries: { ...readers, ...ownBot },
  showDelivery: { ...readers, ...ownEvent },
  replayDelivery: { ...staff, ...ownEvent },
  countReplayable: { ...readers, ...ownBot },
  replayDeliveries: { ...staff, ...ownBot },
  listEndpoints: readers,
  showEndpoint: { ...readers, ...ownBot },
  limitEndpoint: staff,
  enableEndpoint: { ...staff, ...ownBot },
  disableEndpoint: { ...staff, ...ownBot },
  testEndpoint: { ...staff, ...ownBot },
  showNotices: { ...readers, ...ownBot },
  setNotices: { ...staff, ...ownBot },
  listViews: readers,
  releaseView: staff,
  refuseView: staff,
  refundView: staff,
  releaseViews: staff,
  refuseViews: staff,
  refundViews: staff,
  listClicks: readers,
  releaseClick: staff,
  refuseClick: staff,
  refundClick: staff,
  releaseClicks: staff,
  refuseClicks: staff,
  refundClicks: staff,
  listConversions: readers,
  reverseConversion: staff,
  sumConversions: readers,
  addTaskBot: owner,
  setTaskUpdates: owner,
  // An advertiser makes one of them an administrator of its channel.
  listTaskBots: { ...readers, advertiser: "all" },
  addTaskChannel: { ...staff, ...ownAdvertiser },
  checkTaskChannel: { ...staff, ...ownAdvertiser },
  listTaskChannels: { ...readers, ...ownAdvertiser },
  listTasks: { ...readers, ...ownBot, ...ownAdvertiser },
  sumTasks: { ...readers, ...ownBot, ...ownAdvertiser },
  readStats: { ...moneyReaders, ...ownBot, ...ownAdvertiser },
  exportStats: { ...moneyReaders, ...ownBot, ...ownAdvertiser },
  sumUsers: { ...moneyReaders, ...ownBot, ...ownAdvertiser },
  listSavedReports: "signed-in",
  saveReport: "signed-in",
  removeSavedReport: "signed-in",
  mailSavedReport: "signed-in",
  stopMailingReport: "signed-in",
  findTimelines: readers,
  readTimelineOfUser: readers,
  readTimelineOfCode: readers,
  readProof: moneyReaders,
  countRecordsOfUser: staff,
  eraseUser: staff,
  signIn: "anyone",
  showSession: "signed-in",
  signOut: "signed-in",
  signOutEverywhere: "signed-in",
  openInvitation: "anyone",
  acceptInvitation: "anyone",
  openSignInLink: "anyone",
  createSignInLink: commandLine,
  startImpersonation: staff,
  endImpersonation: "signed-in",
  // Ad operations choose whom they see the console as.
  listPeople: staff,
  invitePerson: owner,
  renewInvitation: owner,
  changeRole: owner,
  disablePerson: owner,
  enablePerson: owner,
  listSignInProviders: "anyone",
  startOpenIdSignIn: "anyone",
  finishOpenIdSignIn: "anyone",
  startPasskeySignIn: "anyone",
  signInWithPasskey: "anyone",
  listSignInMethods: "signed-in",
  startLinkingIdentity: "freshly-signed-in",
  linkIdentity: "freshly-signed-in",
  unlinkIdentity: "signed-in",
  startAddingPasskey: "freshly-signed-in",
  addPasskey: "freshly-signed-in",
  renamePasskey: "signed-in",
  removePasskey: "signed-in",
  listOwnSessions: "signed-in",
  endOwnSession: "signed-in",
  changePassword: "signed-in",
  createRecoveryCodes: "freshly-signed-in",
  listAlerts: "signed-in",
  markAlertsRead: "signed-in",
  showAlertSettings: "signed-in",
  setAlertSettings: "signed-in",
  listAuditEntries: owner,
  showSample: moneyReaders,
  addSample: staff,
  removeSample: staff,
} as const satisfies Record<string, Access>;

/** A role that no rule names could do nothing. */
type GrantedRole = KeyOf<Exclude<(typeof accessOf)[keyof typeof accessOf], string>>;
type KeyOf<Rule> = Rule extends unknown ? keyof Rule : never;

/** The routes that a role may use at all: on which objects, the rule decides for each request. */
export function routesOf(role: Role): (keyof typeof accessOf)[] {
  const rules = Object.entries(accessOf) as [keyof typeof accessOf, Access][];
  return rules.filter(([, rule]) => typeof rule === "string" || role in rule).map(([name]) => name);
}

/** Whose money a report shows: an advertiser's people see what they pay, a publisher's what the bots earn, the staff both. */
export const readerOfRole = {
  owner: "staff",
  "ad-ops": "staff",
  finance: "staff",
  analyst: "staff",
  advertiser: "advertiser",
  publisher: "publisher",
} as const satisfies Record<GrantedRole, ReportReader>;

/** As a person of which roles a role may see the console: never of one that reaches further. */
export const rolesSeenBy: Readonly<Record<Role, readonly Role[]>> = {
  owner: roles,
  "ad-ops": /* @__PURE__ */ roles.filter((role) => role !== "owner"),
  finance: [],
  analyst: [],
  advertiser: [],
  publisher: [],
};

/**
 * Whether a route only reads: who sees the console as another person may use no other one. It is told by the name, so that
 * screens need no table of all routes; a test compares it with the methods.
 */
export function isReading(route: string): boolean {
  return /^(count|explain|export|find|list|read|show|sum)[A-Z]/.test(route);
}
