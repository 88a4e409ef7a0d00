import type { ObjectKind } from "./audit.ts";
import type { OperatorRouteName, operatorRoutes } from "./operator-routes.ts";

type PostedRouteName = {
  [Name in OperatorRouteName]: (typeof operatorRoutes)[Name]["method"] extends "GET" ? never : Name;
}[OperatorRouteName];

/**
 * What the entry of each route that changes something is about. The erasure of a user is a change of the bot: the entry must not
 * name the user. Null: the route changes nothing. A body keeps a token or an address out of logs, or the answer differs each
 * time; an unfinished upload is nothing yet.
 */
export const auditedObjects = {
  addBot: "bot",
  updateBot: "bot",
  suspendBot: "bot",
  resumeBot: "bot",
  setBotPicture: "bot",
  removeBotPicture: "bot",
  createToken: "bot",
  activateToken: "bot",
  revokeToken: "bot",
  uploadVideo: "creative",
  addUploadedVideo: "creative",
  addVideoByAddress: "creative",
  addVastTag: "creative",
  renameCreative: "creative",
  approveCreative: "creative",
  refuseCreative: "creative",
  reopenReview: "creative",
  submitCreative: "creative",
  setLegalLine: "creative",
  setPoster: "creative",
  setCaptions: "creative",
  removeCaptions: "creative",
  addCampaign: "campaign",
  updateCampaign: "campaign",
  revertCampaign: "campaign",
  pauseCampaign: "campaign",
  resumeCampaign: "campaign",
  archiveCampaign: "campaign",
  attachCreative: "campaign",
  detachCreative: "campaign",
  setCurrency: "deployment",
  addAdvertiser: "advertiser",
  setTerms: "advertiser",
  recordTopUp: "advertiser",
  correctAdvertiser: "advertiser",
  correctPublisher: "bot",
  creditHeldPayment: "advertiser",
  dismissHeldPayment: "advertiser",
  recordPayout: "bot",
  issuePostbackKey: "advertiser",
  updateAdvertiser: "advertiser",
  archiveAdvertiser: "advertiser",
  restoreAdvertiser: "advertiser",
  replayDelivery: "delivery",
  replayDeliveries: "bot",
  limitEndpoint: "endpoint",
  enableEndpoint: "endpoint",
  disableEndpoint: "endpoint",
  testEndpoint: "endpoint",
  setNotices: "notices",
  releaseView: "view",
  refuseView: "view",
  refundView: "view",
  releaseViews: "view",
  refuseViews: "view",
  refundViews: "view",
  releaseClick: "click",
  refuseClick: "click",
  refundClick: "click",
  releaseClicks: "click",
  refuseClicks: "click",
  refundClicks: "click",
  reverseConversion: "conversion",
  saveReport: "saved-report",
  removeSavedReport: "saved-report",
  eraseUser: "bot",
  signIn: "person",
  signOut: "person",
  signOutEverywhere: "person",
  openSignInLink: "person",
  createSignInLink: "person",
  acceptInvitation: "person",
  finishOpenIdSignIn: "person",
  signInWithPasskey: "person",
  linkIdentity: "person",
  unlinkIdentity: "person",
  addPasskey: "person",
  renamePasskey: "person",
  removePasskey: "person",
  startImpersonation: "person",
  endImpersonation: "person",
  invitePerson: "person",
  renewInvitation: "person",
  changeRole: "person",
  disablePerson: "person",
  enablePerson: "person",
  addSample: "sample",
  removeSample: "sample",
  openInvitation: null,
  startOpenIdSignIn: null,
  startLinkingIdentity: null,
  startPasskeySignIn: null,
  startAddingPasskey: null,
  tryVastTag: null,
  removeUpload: null,
} as const satisfies Record<PostedRouteName, ObjectKind | null>;

/** The routes that may change something, and so leave an entry in the audit trail. */
export type ChangingRouteName = {
  [Name in PostedRouteName]: (typeof auditedObjects)[Name] extends null ? never : Name;
}[PostedRouteName];

export function isChanging(route: string | undefined): route is ChangingRouteName {
  return route !== undefined && (auditedObjects as Readonly<Record<string, ObjectKind | null>>)[route] != null;
}
