import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import type { EndReason } from "@intermission/operator-api/deliveries";
import type { CloseReason, StoredViewState } from "@intermission/operator-api/reviews";
import type {
  CountedRefusal,
  RequestRefusal,
  ReviewDecision,
  TimelineDetail,
  ViewerLimit,
  VisitRefusal,
} from "@intermission/operator-api/timeline";
import { loadWords } from "../words/catalog.ts";
import { errorClassWords } from "../words/error-class-words.ts";
import type { formatsOf } from "../words/formats.ts";
import type { Language } from "../words/languages.ts";
import { deliveryWords, eventWords, noFillWords, suspicionWords } from "../words/vocabulary-words.ts";

const detailWords = loadWords("timelineDetails") satisfies Record<
  Language,
  {
    viewerLimits: Record<ViewerLimit, string>;
    requestRefusals: Record<RequestRefusal, string>;
    closeReasons: Record<CloseReason, string>;
    viewStates: Record<StoredViewState, string>;
    countedRefusals: Record<Exclude<CountedRefusal, ViewerLimit>, string>;
    playbackFaults: Record<PlaybackFault, string>;
    visitRefusals: Record<Exclude<VisitRefusal, ViewerLimit>, string>;
    endReasons: Record<EndReason, string>;
    decisions: Record<ReviewDecision, string>;
  }
>;

type Formats = Pick<ReturnType<typeof formatsOf>, "dateTime" | "seconds" | "milliseconds">;

/** What a step says beside its name. */
export function detailText(language: Language, detail: TimelineDetail, formats: Formats): string {
  const { details: say, ...words } = detailWords[language];
  switch (detail.kind) {
    case "valid-until":
      return say["valid-until"](formats.dateTime(detail.at));
    case "reference":
      return say.reference(detail.reference);
    case "test":
    case "filled":
    case "not-closed":
      return say[detail.kind];
    case "no-ad":
      return say["no-ad"](noFillWords[language][detail.reason]);
    case "limited":
      return words.viewerLimits[detail.reason];
    case "request-refused":
      return say["request-refused"](words.requestRefusals[detail.reason]);
    case "watched": {
      const [accepted, duration] = [detail.acceptedMs, detail.durationMs].map((ms) => formats.seconds(ms / 1000));
      return say.watched({ accepted: accepted ?? "", duration: duration ?? "" });
    }
    case "closed":
      return words.closeReasons[detail.reason];
    case "view-state":
      return say["view-state"](words.viewStates[detail.state]);
    case "suspicions":
      return say.suspicions(detail.suspicions.map((one) => suspicionWords[language][one]).join(", "));
    case "reports-refused": {
      const reasons = { ...words.viewerLimits, ...words.countedRefusals };
      return say["reports-refused"]({ count: detail.count, reason: reasons[detail.reason] });
    }
    case "playback-fault":
      return words.playbackFaults[detail.fault];
    case "decision":
      return words.decisions[detail.decision];
    case "visit-refused":
      return { ...words.viewerLimits, ...words.visitRefusals }[detail.reason];
    case "event":
      return eventWords[language][detail.event];
    case "webhook": {
      const state = deliveryWords[language][detail.state];
      const { endReason } = detail;
      return endReason === null ? say.webhook(state) : say.webhookEnded({ state, reason: words.endReasons[endReason] });
    }
    case "attempt":
      return (detail.isReplay ? say.attemptAgain : say.attempt)(detail.attempt);
    case "answer":
      return say.answer(`${detail.status}`);
    case "no-answer":
      return errorClassWords[language][detail.errorClass];
    case "took":
      return formats.milliseconds(detail.milliseconds);
    case "conversion":
      return say.conversion(detail.event);
    default:
      return detail satisfies never;
  }
}
