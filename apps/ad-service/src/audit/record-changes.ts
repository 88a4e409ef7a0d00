import type { ObjectKind } from "@intermission/operator-api/audit";
import type { ChangingRouteName } from "@intermission/operator-api/operator-routes";
import { statement } from "@intermission/postgres/open-database";
import { type RecordedRequest, recordRequest } from "@intermission/postgres/recorded-changes";
import type { FastifyReply, FastifyRequest } from "fastify";
import { readState } from "./object-states.ts";

interface AuditedObject {
  kind: ObjectKind;
  /** Fields of the path or the body whose values identify the object. None: the handler names it. */
  id: readonly string[];
}

const bot = { kind: "bot", id: ["botId"] } as const;
const endpoint = { kind: "endpoint", id: ["botId"] } as const;
const campaign = { kind: "campaign", id: ["campaignId"] } as const;
const creative = { kind: "creative", id: ["creativeId"] } as const;
const newCreative = { kind: "creative", id: [] } as const;
const view = { kind: "view", id: ["sessionId"] } as const;
const views = { kind: "view", id: [] } as const;
const click = { kind: "click", id: ["clickId"] } as const;
const clicks = { kind: "click", id: [] } as const;
const advertiser = { kind: "advertiser", id: [] } as const;
const sample = { kind: "sample", id: [] } as const;
const person = { kind: "person", id: ["personId"] } as const;
const anyPerson = { kind: "person", id: [] } as const;

/** What each route changes. The erasure of a user is a change of the bot: the entry must not name the user. */
const objectOf = {
  addBot: bot,
  updateBot: bot,
  suspendBot: bot,
  resumeBot: bot,
  createToken: bot,
  activateToken: bot,
  revokeToken: bot,
  uploadVideo: newCreative,
  addUploadedVideo: newCreative,
  addVideoByAddress: newCreative,
  addVastTag: newCreative,
  renameCreative: creative,
  approveCreative: creative,
  refuseCreative: creative,
  reopenReview: creative,
  submitCreative: creative,
  setLegalLine: creative,
  setPoster: creative,
  setCaptions: creative,
  removeCaptions: creative,
  addCampaign: { kind: "campaign", id: [] },
  updateCampaign: campaign,
  revertCampaign: campaign,
  pauseCampaign: campaign,
  resumeCampaign: campaign,
  archiveCampaign: campaign,
  attachCreative: campaign,
  detachCreative: campaign,
  setCurrency: { kind: "deployment", id: ["currency"] },
  addAdvertiser: advertiser,
  setTerms: advertiser,
  recordTopUp: advertiser,
  correctAdvertiser: advertiser,
  correctPublisher: bot,
  recordPayout: bot,
  issuePostbackKey: advertiser,
  updateAdvertiser: advertiser,
  archiveAdvertiser: advertiser,
  restoreAdvertiser: advertiser,
  replayDelivery: { kind: "delivery", id: ["eventId"] },
  replayDeliveries: bot,
  limitEndpoint: endpoint,
  enableEndpoint: endpoint,
  disableEndpoint: endpoint,
  testEndpoint: endpoint,
  setNotices: { kind: "notices", id: ["botId"] },
  releaseView: view,
  refuseView: view,
  refundView: view,
  releaseViews: views,
  refuseViews: views,
  refundViews: views,
  releaseClick: click,
  refuseClick: click,
  refundClick: click,
  releaseClicks: clicks,
  refuseClicks: clicks,
  refundClicks: clicks,
  reverseConversion: { kind: "conversion", id: ["clickId", "event", "conversionId"] },
  saveReport: { kind: "saved-report", id: [] },
  removeSavedReport: { kind: "saved-report", id: ["savedReportId"] },
  eraseUser: bot,
  signIn: anyPerson,
  signOut: anyPerson,
  signOutEverywhere: anyPerson,
  openSignInLink: anyPerson,
  createSignInLink: anyPerson,
  acceptInvitation: anyPerson,
  finishOpenIdSignIn: anyPerson,
  signInWithPasskey: anyPerson,
  linkIdentity: anyPerson,
  unlinkIdentity: anyPerson,
  addPasskey: anyPerson,
  renamePasskey: anyPerson,
  removePasskey: anyPerson,
  startImpersonation: person,
  endImpersonation: anyPerson,
  invitePerson: anyPerson,
  renewInvitation: person,
  changeRole: person,
  disablePerson: person,
  enablePerson: person,
  addSample: sample,
  removeSample: sample,
} as const satisfies Record<ChangingRouteName, AuditedObject>;

function isChanging(name: string | undefined): name is ChangingRouteName {
  return name !== undefined && Object.hasOwn(objectOf, name);
}

// Of a person who is signing in, no request knew the address yet.
const insert = statement<never>(
  "audit.insert",
  `insert into audit_entries (actor, actor_name, operation, object_kind, object_id, before, after, address, request_id)
   values ($1, coalesce($2, (select email from people where person_id = $1)), $3, $4, $5, $6, $7, $8, $9)`,
);

export interface Caller {
  request: FastifyRequest;
  reply: FastifyReply;
  /** The id and the e-mail address of a person, or `command-line`. Undefined: the object itself, who is signing in. */
  actor: { id: string; name: string } | undefined;
}

/** Runs the rest of a request so that its changes are recorded as the caller's. Call it in the last hook before the handler. */
export function recordChanges({ request, reply, actor }: Caller, handle: () => void): void {
  const { operation } = request.routeOptions.config;
  if (!isChanging(operation)) {
    handle();
    return;
  }
  // A connection of the socket in the data folder has none.
  const { ip: address = "socket" }: { ip?: string } = request;
  const { kind, id }: AuditedObject = objectOf[operation];
  // Those of the path identify the object where both have a field.
  const fields = { ...fieldsOf(request.body), ...fieldsOf(request.params) };
  const recorded: RecordedRequest = {
    objectKind: kind,
    objectId: id.map((field) => fields[field] ?? "").join(" "),
    readState: (tx, objectId) => readState(tx, { kind, id: objectId }),
    async record(tx, { objectId, before }) {
      const after = await readState(tx, { kind, id: objectId });
      const { id: actorId, name } = actor ?? { id: objectId, name: null };
      const states = [before, after].map((state) => (state === undefined ? null : JSON.stringify(state)));
      await tx.run(insert, [actorId, name, operation, kind, objectId, ...states, address, request.id]);
    },
    isRecorded: false,
    isOver: false,
  };
  // "close" without "finish": the caller went away before the answer.
  for (const event of ["finish", "close"]) {
    reply.raw.once(event, () => {
      recorded.isOver = true;
    });
  }
  recordRequest(recorded, handle);
}

function fieldsOf(part: unknown): Record<string, string> {
  const fields = typeof part === "object" && part !== null ? Object.entries(part) : [];
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === "string"));
}
