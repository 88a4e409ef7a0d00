import { endpointState, payPerCode, receiverWarnings } from "@intermission/ad-core/client-words";
import { anyEventType, taskState } from "@intermission/ad-core/event-words";
import { adReportReason, deliveryState, playbackFault } from "@intermission/ad-core/wire-fields";
import { roles } from "@intermission/operator-api/access";
import { advertiserStates } from "@intermission/operator-api/advertisers";
import { alertCauses, alertChannels, momentaryCauses } from "@intermission/operator-api/alerts";
import { bidOutcomes } from "@intermission/operator-api/bid-outcomes";
import { billedKinds } from "@intermission/operator-api/billing-log";
import { botSettings, scriptState, tokenEntry } from "@intermission/operator-api/bots";
import { buyerProtocols, sentFacts } from "@intermission/operator-api/buyers";
import {
  campaignFormats,
  campaignPriorities,
  campaignStatuses,
  pacings,
  taskPayments,
  viewFormats,
} from "@intermission/operator-api/campaign-words";
import { pausers } from "@intermission/operator-api/campaigns";
import { consentOutcomes } from "@intermission/operator-api/consent-outcomes";
import { conversionRefusal } from "@intermission/operator-api/conversions";
import { boughtReviewStates, creativeKinds, reviewStates } from "@intermission/operator-api/creative-words";
import { endReason } from "@intermission/operator-api/deliveries";
import { breakerState, disabledReasons } from "@intermission/operator-api/endpoints";
import { heldReasons, heldStates } from "@intermission/operator-api/held-payments";
import { entryKinds } from "@intermission/operator-api/money-fields";
import { requestedOperations, requestStates } from "@intermission/operator-api/money-requests";
import { noticeChannels, noticeHealth } from "@intermission/operator-api/notices";
import { regulatedKinds } from "@intermission/operator-api/regulated-categories";
import { closeReason, storedViewState } from "@intermission/operator-api/reviews";
import { sampleStates } from "@intermission/operator-api/sample";
import { mailIntervals, reportMailStates, scheduleEnds } from "@intermission/operator-api/saved-reports";
import { orderModes } from "@intermission/operator-api/source-orders";
import { clickSuspicions } from "@intermission/operator-api/suspicions";
import { channelRights, taskProof, taskUpdatesBy, taskVoidReason } from "@intermission/operator-api/tasks";
import { billings } from "@intermission/operator-api/terms";
import { type VisitRefusal, visitRefusal, type WithheldOutcome } from "@intermission/operator-api/timeline";
import { checkedWords } from "@intermission/testing/checked-words";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import type { ConditionCause } from "../src/alerts/conditions.ts";
import type { ClickRefusal, ClickSuspicion } from "../src/clicks/click-verdict.ts";
import { migrations } from "../src/migrations.ts";
import { noticeReason } from "../src/notices/notice.ts";
import { emailChangeStates } from "../src/people/email-change.ts";
import { measureOfEvent } from "../src/statistics/measures.ts";
import type { TaskCall } from "../src/tasks/sweep-tasks.ts";
import type { CallOutcome } from "../src/vast/trackers.ts";
import type { StoredState } from "../src/views/ad-view.ts";

/** The words of a type without a list: the compiler refuses a table that lacks one, or has another. */
const wordsOf = <Word extends string>(table: Readonly<Record<Word, true>>): readonly string[] => Object.keys(table);

const ofDecisions = wordsOf<Exclude<WithheldOutcome, VisitRefusal>>({ held: true, refused: true, released: true });
const ofClicks = wordsOf<Exclude<ClickRefusal, VisitRefusal>>({ held: true, suspicious: true, operator: true });
const answerWarnings = receiverWarnings.filter((one) => one !== "wrong-signature-accepted");

/** The words that TypeScript knows, for each column that a check constraint limits to a list of words. */
const vocabularies: Readonly<Record<string, readonly string[]>> = {
  "ad_reports.reason": adReportReason.options,
  "advertisers.billing": billings,
  "advertisers.state": advertiserStates,
  "billing_log_entries.kind": billedKinds,
  "alert_conditions.cause": alertCauses.filter(
    (cause): cause is ConditionCause => !momentaryCauses.some((one) => one === cause),
  ),
  "alert_messages.channel": alertChannels.filter((channel) => channel !== "console"),
  "alerts.cause": alertCauses,
  "alerts.unsent": alertChannels.filter((channel) => channel !== "console"),
  "bot_tokens.state": tokenEntry.shape.state.options,
  "bots.delivery_mode": botSettings.shape.deliveryMode.options,
  "bots.pay_per_code": payPerCode.options,
  "bots.suspicious_clicks": botSettings.shape.suspiciousClicks.options,
  "bots.suspicious_views": botSettings.shape.suspiciousViews.options,
  "bought_creatives.review": boughtReviewStates,
  "buyer_exchanges.outcome": bidOutcomes,
  "buyer_exchanges.consent": consentOutcomes,
  "buyers.allowed_regulated": regulatedKinds,
  "buyers.protocol": buyerProtocols,
  "buyers.sends": sentFacts,
  "campaigns.formats": campaignFormats,
  "campaigns.pacing": pacings,
  "campaigns.paused_by": pausers,
  "campaigns.priority": campaignPriorities,
  "campaigns.review": reviewStates,
  "campaigns.status": campaignStatuses,
  "campaigns.task_paid_at": taskPayments,
  "click_refusals.reason": [...visitRefusal.options, ...ofClicks],
  "conversion_refusals.reason": conversionRefusal.options,
  "creatives.kind": creativeKinds,
  "creatives.review": reviewStates,
  "deliveries.end_reason": endReason.options,
  // A replay begins in one of these.
  "deliveries.resume_state": deliveryState.options.filter((state) => !["sending", "held", "failed"].includes(state)),
  "deliveries.state": deliveryState.options,
  "endpoints.breaker": breakerState.options,
  "endpoints.answer_warning": answerWarnings,
  "endpoints.disabled_reason": disabledReasons,
  "endpoints.state": endpointState.options,
  "events.event": anyEventType.options,
  "events.suspicions": clickSuspicions satisfies readonly ClickSuspicion[],
  "held_payments.reason": heldReasons,
  "held_payments.state": heldStates,
  "money_entries.kind": entryKinds,
  "money_requests.operation": requestedOperations,
  "money_requests.state": requestStates,
  "notice_receivers.channel": noticeChannels,
  "notice_receivers.health": noticeHealth.options,
  "notices.health": noticeHealth.options,
  "notices.reason": noticeReason.options,
  "people.role": roles,
  "person_email_changes.state": emailChangeStates,
  "refunds.event": Object.keys(measureOfEvent),
  "report_mails.state": reportMailStates,
  "report_schedules.ended": scheduleEnds,
  "report_schedules.every": mailIntervals,
  "sample.state": sampleStates,
  "task_channels.rights": channelRights.options,
  "task_bots.updates_by": taskUpdatesBy.options,
  "tasks.call": wordsOf<TaskCall>({ approve: true, revoke: true }),
  "tasks.paid_at": taskPayments,
  "tasks.proof": taskProof.options,
  "tasks.state": taskState.options,
  "tasks.void_reason": taskVoidReason.options,
  "source_orders.mode": orderModes.filter((mode) => mode !== "weights"),
  "tracker_calls.outcome": wordsOf<CallOutcome>({ answered: true, refused: true, failed: true, unknown: true }),
  "views.close_reason": closeReason.options,
  "views.fault": playbackFault.options,
  "views.format": viewFormats,
  "views.state": storedViewState.options satisfies readonly StoredState[],
  "withheld_clicks.outcome": [...visitRefusal.options, ...ofDecisions],
  "script_sightings.state": scriptState.options,
  "withheld_clicks.suspicions": clickSuspicions,
};

/** The tables of the statistics are compared by `measures.test.ts`. */
const comparedElsewhere = /^(ad_requests|ad_milestones|stats_\w+)[.]/;

test("each column that takes one of several words accepts the members of its union, and no others", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  const checked = await checkedWords(store.database, "ad_service").finally(() => store.dispose());
  const accepted = Object.entries(checked).filter(([column]) => !comparedElsewhere.test(column));
  const known = Object.entries(vocabularies).map(([column, words]) => [column, words.toSorted()]);
  expect(Object.fromEntries(accepted)).toEqual(Object.fromEntries(known));
});
