import type { EndpointState, PayPerCode } from "@intermission/ad-core/client-words";
import type { AnswerWarning } from "@intermission/ad-core/receiver-warning";
import type { AdReportReason, DeliveryState, EventType, PlaybackFault } from "@intermission/ad-core/wire-fields";
import type { advertiserStates } from "@intermission/operator-api/advertisers";
import type { Bot, TokenEntry } from "@intermission/operator-api/bots";
import type { CampaignFormat, CampaignPriority, CampaignStatus } from "@intermission/operator-api/campaign-words";
import type { Campaign } from "@intermission/operator-api/campaigns";
import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import type { Creative } from "@intermission/operator-api/creatives";
import type { EndReason, ListedDelivery } from "@intermission/operator-api/deliveries";
import type { BreakerState, DisabledReason } from "@intermission/operator-api/endpoints";
import type { heldReasons, heldStates } from "@intermission/operator-api/held-payments";
import type { entryKinds } from "@intermission/operator-api/money";
import type { NoticeChannel, NoticeHealth } from "@intermission/operator-api/notices";
import type { Role } from "@intermission/operator-api/people";
import type { CloseReason, SuspiciousClick, SuspiciousView } from "@intermission/operator-api/reviews";
import type { Sample } from "@intermission/operator-api/sample";
import type { billings } from "@intermission/operator-api/terms";
import type { VisitRefusal, WithheldOutcome } from "@intermission/operator-api/timeline";
import { checkedWords } from "@intermission/testing/checked-words";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import type { ClickRefusal, ClickSuspicion } from "../src/clicks/click-verdict.ts";
import { migrations } from "../src/migrations.ts";
import type { NoticeReason } from "../src/notices/notice.ts";
import type { CallOutcome } from "../src/vast/trackers.ts";
import type { StoredState } from "../src/views/ad-view.ts";

/** The compiler refuses a table that lacks a member of its union. */
type Words<Union extends string> = Record<Union, true>;

const eventTypes = { rewarded: true, direct_link: true } satisfies Words<EventType> & Words<CampaignFormat>;
const suspicions = {
  "many-users-of-one-agent": true,
  "mostly-taps": true,
  "many-users-of-one-address": true,
  "crowded-network": true,
  "right-after-issue": true,
  "address-changed": true,
  "tap-unconfirmed": true,
} satisfies Words<ClickSuspicion> & Words<SuspiciousClick["suspicions"][number]>;
const visitRefusals = {
  cooldown: true,
  "daily-cap": true,
  used: true,
  expired: true,
  "bot-suspended": true,
  "no-ad": true,
  "address-limit": true,
  "machine-head": true,
  "machine-prefetch": true,
  "machine-empty-agent": true,
  "machine-crawler": true,
  "machine-library": true,
  "tap-asked-address": true,
  "tap-asked-embedded": true,
  "tap-asked-scripted": true,
  "tap-asked-no-language": true,
  "tap-asked-foreign-form": true,
  "tap-asked-no-token": true,
  "tap-asked-crawler-like": true,
  "tap-asked-unknown-agent": true,
} satisfies Words<VisitRefusal>;
const noticeHealths = { failing: true, recovered: true, disabled: true, doubtful: true } satisfies Words<NoticeHealth>;
const disabledReasons = { operator: true, gone: true, failing: true } satisfies Words<DisabledReason>;
const answerWarnings = { "html-answer": true, "negative-answer": true } satisfies Words<AnswerWarning>;
const noticeReasons = {
  ...disabledReasons,
  ...answerWarnings,
  "wrong-signature-accepted": true,
} satisfies Words<NoticeReason>;

/** The words that TypeScript knows, for each column that a check constraint limits to a list of words. */
const vocabularies: Readonly<Record<string, Words<string>>> = {
  "ad_reports.reason": {
    offensive: true,
    misleading: true,
    scam: true,
    illegal: true,
    broken: true,
    other: true,
  } satisfies Words<AdReportReason>,
  "advertisers.billing": { prepaid: true, credit: true } satisfies Words<(typeof billings)[number]>,
  "advertisers.state": { active: true, archived: true } satisfies Words<(typeof advertiserStates)[number]>,
  "bot_tokens.state": { next: true, active: true, retiring: true, revoked: true } satisfies Words<TokenEntry["state"]>,
  "bots.delivery_mode": { "at-least-once": true, "at-most-once": true } satisfies Words<Bot["deliveryMode"]>,
  "bots.pay_per_code": { once: true, each: true } satisfies Words<PayPerCode>,
  "bots.suspicious_clicks": { pay: true, "hold-farms": true, hold: true, refuse: true } satisfies Words<
    Bot["suspiciousClicks"]
  >,
  "bots.suspicious_views": { pay: true, hold: true, refuse: true } satisfies Words<Bot["suspiciousViews"]>,
  "campaigns.formats": eventTypes,
  "campaigns.pacing": { even: true, asap: true } satisfies Words<Campaign["pacing"]>,
  "campaigns.paused_by": { operator: true, advertiser: true } satisfies Words<NonNullable<Campaign["pausedBy"]>>,
  "campaigns.priority": { sponsorship: true, standard: true, house: true } satisfies Words<CampaignPriority>,
  "campaigns.status": { active: true, paused: true, archived: true } satisfies Words<CampaignStatus>,
  "click_refusals.reason": {
    ...visitRefusals,
    held: true,
    suspicious: true,
    operator: true,
  } satisfies Words<ClickRefusal>,
  "conversion_refusals.reason": {
    "unknown-key": true,
    "unknown-click": true,
    "refused-click": true,
    "too-late": true,
    "too-many": true,
    reversed: true,
    "unknown-currency": true,
    malformed: true,
  } satisfies Words<ConversionRefusal>,
  "creatives.kind": { file: true, address: true, vast: true } satisfies Words<Creative["kind"]>,
  "creatives.review": { draft: true, waiting: true, approved: true, refused: true } satisfies Words<Creative["review"]>,
  "deliveries.end_reason": {
    "attempts-used-up": true,
    "at-most-once": true,
    "held-too-long": true,
    test: true,
    erased: true,
  } satisfies Words<EndReason>,
  // A replay begins in one of these.
  "deliveries.resume_state": { waiting: true, delivered: true, unknown: true } satisfies Words<
    Exclude<DeliveryState, "sending" | "held" | "failed">
  >,
  "deliveries.state": {
    waiting: true,
    sending: true,
    delivered: true,
    failed: true,
    held: true,
    unknown: true,
  } satisfies Words<DeliveryState> & Words<ListedDelivery["state"]>,
  "endpoints.breaker": { closed: true, open: true, "half-open": true } satisfies Words<BreakerState>,
  "endpoints.answer_warning": answerWarnings,
  "endpoints.disabled_reason": disabledReasons,
  "endpoints.state": { pending: true, active: true, disabled: true } satisfies Words<EndpointState>,
  "events.event": eventTypes,
  "events.suspicions": suspicions,
  "held_payments.reason": { "reference-known": true, "reported-otherwise": true } satisfies Words<
    (typeof heldReasons)[number]
  >,
  "held_payments.state": { open: true, credited: true, dismissed: true } satisfies Words<(typeof heldStates)[number]>,
  "money_entries.kind": {
    top_up: true,
    charge: true,
    refund: true,
    correction: true,
    payout: true,
  } satisfies Words<(typeof entryKinds)[number]>,
  "notice_receivers.channel": { webhook: true, email: true, telegram: true } satisfies Words<NoticeChannel>,
  "notice_receivers.health": noticeHealths,
  "notices.health": noticeHealths,
  "notices.reason": noticeReasons,
  "people.role": {
    owner: true,
    "ad-ops": true,
    finance: true,
    analyst: true,
    advertiser: true,
    publisher: true,
  } satisfies Words<Role>,
  "refunds.event": eventTypes,
  "sample.state": { adding: true, added: true, removing: true } satisfies Words<Sample["state"]>,
  "tracker_calls.outcome": { answered: true, refused: true, failed: true, unknown: true } satisfies Words<CallOutcome>,
  "views.close_reason": {
    tap: true,
    "page-hidden": true,
    "heartbeat-lost": true,
    deadline: true,
    reopened: true,
  } satisfies Words<CloseReason>,
  "views.fault": {
    "not-found": true,
    timeout: true,
    unsupported: true,
    "not-displayed": true,
    "too-short": true,
    other: true,
  } satisfies Words<PlaybackFault>,
  "views.state": {
    opened: true,
    playing: true,
    watched: true,
    rewarded: true,
    held: true,
    refused: true,
  } satisfies Words<StoredState> & Words<SuspiciousView["state"]>,
  "withheld_clicks.outcome": {
    ...visitRefusals,
    held: true,
    refused: true,
    released: true,
  } satisfies Words<WithheldOutcome>,
  "withheld_clicks.suspicions": suspicions,
};

/** The tables of the statistics are compared by `measures.test.ts`. */
const comparedElsewhere = /^(ad_requests|ad_milestones|stats_\w+)[.]/;

test("each column that takes one of several words accepts the members of its union, and no others", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  const checked = await checkedWords(store.database, "ad_service").finally(() => store.dispose());
  const accepted = Object.entries(checked).filter(([column]) => !comparedElsewhere.test(column));
  const known = Object.entries(vocabularies).map(([column, words]) => [column, Object.keys(words).toSorted()]);
  expect(Object.fromEntries(accepted)).toEqual(Object.fromEntries(known));
});
