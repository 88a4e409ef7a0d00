import { isCode } from "@intermission/ad-core/code";
import type { Consent } from "@intermission/ad-core/consent";
import { acceptedLanguages } from "@intermission/ad-core/page-language";
import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import type { TelegramServers } from "@intermission/ad-core/telegram-init-data";
import type { Bot } from "@intermission/operator-api/bots";
import type { ViewFormat } from "@intermission/operator-api/campaign-words";
import type { NoAdReason } from "@intermission/operator-api/report-figures";
import type { RequestRefusal, StoredRequest } from "@intermission/operator-api/timeline";
import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { type Database, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { CountCall } from "@intermission/server/counted-calls";
import { type RateLimiter, rateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import { languageOf, platformOf } from "../ad-selection/eligibility.ts";
import { orderCaptions } from "../creatives/order-captions.ts";
import { audienceText } from "../viewers/audience.ts";
import type { ViewerLimit } from "../viewers/limit-of-viewer.ts";
import type { AdView } from "./ad-view.ts";
import { beginViewsInRounds } from "./begin-views.ts";
import { type EnterViewDeps, type EnterViewOutcome, enterView, type OpeningInput, refused } from "./enter-view.ts";
import { type Ad, adRows } from "./find-ad.ts";
import { readLaunch } from "./read-launch.ts";
import { readOpenings } from "./read-opening.ts";
import { type LaunchDeps, type LaunchProof, type VerifiedLaunch, verifyLaunch } from "./verify-launch.ts";

type Unfilled = Exclude<StoredRequest, { outcome: "filled" }>;

/** An ad request without an ad. Only requests of users whose identity Telegram has confirmed are stored. */
type UnfilledRequest = Unfilled & {
  botId: string;
  userId: string;
  code: string | undefined;
  /** As text, see `audienceText`. */
  audience: string;
  now: Date;
};

const unfilledRows = rowParameters({
  bot_id: "text",
  user_id: "text",
  code: "text",
  outcome: "text",
  reason: "text",
  audience: "text",
  occurred_at: "timestamptz",
});

const insertUnfilled = statement<never>(
  "ad-requests.unfilled",
  `insert into ad_requests (bot_id, user_id, code, outcome, reason, audience, occurred_at) ${unfilledRows.table}`,
);

async function recordUnfilled(database: Database, batch: readonly UnfilledRequest[]): Promise<undefined[]> {
  const rows = batch.map(({ botId, userId, code, outcome, reason, audience, now }) => ({
    bot_id: botId,
    user_id: userId,
    code,
    outcome,
    reason,
    audience,
    occurred_at: now,
  }));
  await database.run(insertUnfilled, unfilledRows.values(rows));
  return batch.map(() => undefined);
}

export interface OpeningDeps extends LaunchDeps, Omit<EnterViewDeps, "ads" | "reading" | "beginning"> {
  database: Database;
}

/** What opening a view needs, and what this node keeps meanwhile. */
export interface Openings extends OpeningDeps, EnterViewDeps {
  /** Keyed by the user of verified launch data, so that differently encoded launch data of one user shares a budget. */
  limiter: RateLimiter;
  /** Unfilled requests, many in one commit. */
  unfilled: CommitGroup<UnfilledRequest, undefined>;
  /** Repeated lines say nothing new, and must not fill the log. */
  lines: RateLimiter;
}

export function newOpenings(deps: OpeningDeps): Openings {
  const { database } = deps;
  return {
    ...deps,
    ads: adRows(database),
    limiter: rateLimiter({ quota: 60, windowSeconds: 120, maxKeys: 20_000 }),
    lines: rateLimiter({ quota: 3, windowSeconds: 60, maxKeys: 20_000 }),
    reading: groupCommits({ name: "openings", run: (batch) => readOpenings(database, batch) }),
    beginning: groupCommits({ name: "new views", run: (batch) => beginViewsInRounds(database, batch) }),
    unfilled: groupCommits({ name: "unfilled requests", run: (batch) => recordUnfilled(database, batch) }),
  };
}

export interface OpenViewInput extends OpeningInput {
  botId: string;
  launch: LaunchProof;
  code: string | undefined;
  /** The unsigned `startapp` parameter of the page's address. */
  startParam: string | undefined;
  clientNote: string | undefined;
  /** The viewer wants another ad, regardless of the code that the app was opened with. */
  isAnother: boolean;
  format: ViewFormat;
  /** The browser's user agent: campaigns may target a platform. */
  userAgent: string | undefined;
  /** The viewer's, which a buyer is sent only where its settings say so. */
  address?: string | undefined;
  /** As the page has it; undefined: that of the code counts. */
  consent?: Consent | undefined;
  /** Null: unknown; undefined: no source of countries is configured. */
  country: string | null | undefined;
  /** The browser's header: captions are in the viewer's language. */
  acceptLanguage: string | undefined;
  /** Counts this request in a limit. */
  count: CountCall;
}

export type OpenViewOutcome =
  /** `joinTitle`: the channel or group that the view lets its viewer into. */
  | { outcome: "opened"; bot: Bot; view: AdView; token: string; ad: Ad; joinTitle: string | null }
  | { outcome: "no-ad"; bot: Bot; reason: NoAdReason }
  | ({ outcome: "limit-reached"; bot: Bot } & Pick<
      Extract<ViewerLimit, { outcome: "limited" }>,
      "reason" | "availableAt"
    >)
  | { outcome: "too-many"; waitSeconds: number }
  /** `bot`: only if the launch data is authentic, but too old. `signedBy`: servers of Telegram that may not launch the app. */
  | { outcome: "refused"; reason: OpenSessionRefusal; bot?: Bot; signedBy?: TelegramServers };

/** Opens a view, or says why not; each refusal is a line of the log. */
export async function openView(openings: Openings, input: OpenViewInput): Promise<OpenViewOutcome> {
  const launch = await verifyLaunch(openings, { botId: input.botId, now: input.now, ...input.launch });
  const opened = launch.outcome === "verified" ? await openForUser(openings, launch, input) : launch;
  const userId = launch.outcome === "verified" ? launch.user.id : undefined;
  logOpening(openings, opened, { botId: input.botId, userId, now: input.now });
  return opened;
}

function logOpening(
  { views: { log }, lines }: Openings,
  opened: OpenViewOutcome,
  { botId, userId, now }: { botId: string; userId: string | undefined; now: Date },
): void {
  if (opened.outcome === "opened") {
    const { viewId, campaignId, creativeId } = opened.view;
    log.debug({ botId, userId, sessionId: viewId, campaignId, creativeId }, "an ad is opened");
    return;
  }
  const { outcome } = opened;
  const reason = outcome === "too-many" ? outcome : opened.reason;
  // Anyone can name any number of bots.
  const key = reason === "BOT_UNKNOWN" ? reason : `${botId} ${userId} ${reason}`;
  if (!lines.take(key, now.getTime()).isAllowed) return;
  log.info({ botId, ...(userId !== undefined && { userId }), reason }, refusals[outcome]);
}

const refusals = {
  "no-ad": "no ad fits a viewer",
  "limit-reached": "a viewer may not earn yet",
  "too-many": "a viewer opens ads too often",
  refused: "an opening is refused",
} satisfies Record<Exclude<OpenViewOutcome["outcome"], "opened">, string>;

async function openForUser(
  openings: Openings,
  { bot, user: launched, signedStartParam, initData, mustContinue, isInApp }: VerifiedLaunch,
  input: OpenViewInput,
): Promise<OpenViewOutcome> {
  const { botId, now } = input;
  const userId = launched.id;
  const waitSeconds = secondsToWait(input.count, openings.limiter, `${botId} ${userId}`, now);
  if (waitSeconds > 0) return { outcome: "too-many", waitSeconds };
  const values = { code: input.code, startParam: input.startParam, signedStartParam };
  const launch = await readLaunch(openings.database, { bot, userId, now, ...values });
  // A game shows many ads in one launch: a code of its launch is that of the first.
  const isAnother = input.isAnother || (isInApp && input.code === undefined);
  const requestedCode = isAnother ? undefined : launch.code;
  const isTest = bot.testers.includes(userId);
  const user = {
    language: languageOf(launched.languageCode),
    platform: platformOf(input.userAgent),
    isPremium: launched.isPremium ?? false,
    country: input.country,
  };
  if (mustContinue && input.isAnother) return { ...refused("INIT_DATA_EXPIRED"), bot };
  const ad = { format: input.format, bot, userId, user };
  const { userAgent = "", device, random, viewRandom, token, eventId } = input;
  const shared = { device, random, viewRandom, token, eventId, now };
  const { startParam } = launch;
  const { address, consent, clientNote } = input;
  const opening = {
    bot,
    userId,
    requestedCode,
    startParam,
    clientNote,
    initData,
    mustContinue,
    userAgent,
    address,
    consent,
    isTest,
  };
  const entered = await enterView(openings, { ...opening, ad, ...shared });
  const { languageCode } = launched;
  const languages = [...(languageCode ? [languageCode] : []), ...acceptedLanguages(input.acceptLanguage)];
  const opened = openedBy(entered, { bot, token, languages });
  if (opened.outcome === "refused" && opened.reason === "INIT_DATA_EXPIRED") return { ...opened, bot };
  const unfilled = unfilledOf(opened);
  if (unfilled && !isTest) {
    const code = requestedCode !== undefined && isCode(requestedCode) ? requestedCode : undefined;
    await openings.unfilled.submit({ botId, userId, code, ...unfilled, audience: audienceText(user), now });
  }
  return opened;
}

function openedBy(
  entered: EnterViewOutcome,
  { bot, token, languages }: { bot: Bot; token: string; languages: readonly string[] },
): OpenViewOutcome {
  switch (entered.outcome) {
    case "entered": {
      const ad = { ...entered.ad, captions: orderCaptions(entered.ad.captions, languages) };
      return { outcome: "opened", bot, view: entered.view, token, ad, joinTitle: entered.joinTitle };
    }
    case "limited":
      return { ...entered, outcome: "limit-reached", bot };
    case "no-ad":
      return { ...entered, bot };
    default:
      return entered;
  }
}

function unfilledOf(opened: OpenViewOutcome): Unfilled | undefined {
  if (opened.outcome === "opened" || opened.outcome === "too-many") return undefined;
  if (opened.outcome === "no-ad") return { outcome: "no-ad", reason: opened.reason };
  if (opened.outcome === "limit-reached") return { outcome: "limited", reason: opened.reason };
  return { outcome: "refused", reason: storedRefusals[opened.reason] };
}

const storedRefusals = {
  INIT_DATA_INVALID: "init-data-invalid",
  INIT_DATA_WITHOUT_USER: "init-data-without-user",
  INIT_DATA_EXPIRED: "init-data-expired",
  CODE_MALFORMED: "code-malformed",
  CODE_UNKNOWN: "code-unknown",
  CODE_EXPIRED: "code-expired",
  CODE_USED: "code-used",
  CODE_OF_ANOTHER_USER: "code-of-another-user",
  BOT_UNKNOWN: "bot-unknown",
  BOT_SUSPENDED: "bot-suspended",
} satisfies Record<OpenSessionRefusal, RequestRefusal>;
