import { language, words } from "./words.js";

/** A step in the page's language. `mark` is `good`, `bad`, `warn` or empty. */
export function describeStep(step) {
  return describers[step.kind]?.(step) ?? { title: step.kind, detail: "", mark: "" };
}

const t = words.steps;
const join = (...parts) => parts.filter(Boolean).join(" · ");
const range = ({ fromMs, toMs }) => `${tenths.format(fromMs / 1000)}–${inSeconds(toMs)}`;
const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const inSeconds = (ms) => `${tenths.format(ms / 1000)}\u00a0${words.secondsShort}`;

const describers = {
  code: ({ code, ms }) => ({ title: t.code, detail: join(code, took(ms)), mark: "" }),
  tap: () => ({ title: t.tap, detail: "", mark: "" }),
  requested: () => ({ title: t.requested, detail: "", mark: "" }),
  shown: ({ outcome }) => ({
    title: t.shown,
    detail: outcome,
    mark: outcome === "credited" || outcome === "watched" ? "good" : "warn",
  }),
  session({ outcome, ms, durationMs, resumeAtMs }) {
    if (outcome !== "session") return { title: t.noSession, detail: join(outcome, took(ms)), mark: "bad" };
    const resumed = resumeAtMs > 0 ? t.resumed(inSeconds(resumeAtMs)) : "";
    return { title: t.session, detail: join(t.video(inSeconds(durationMs)), resumed, took(ms)), mark: "" };
  },
  "first-frame": () => ({ title: t.firstFrame, detail: "", mark: "" }),
  report: describeReport,
  fault: ({ fault, ms }) => ({ title: t.fault, detail: join(fault, took(ms)), mark: "warn" }),
  cheat: ({ cheat }) => ({ title: t.cheats[cheat], detail: "", mark: "warn" }),
  event: ({ event, eventId }) => ({ title: t.event, detail: join(words.events[event], eventId), mark: "good" }),
  attempt({ attempt, ms, status, errorClass, nextAt, isReplay }) {
    const title = isReplay ? t.replay(attempt) : t.attempt(attempt);
    if (ms === null && status === null && errorClass === null) return { title, detail: t.underWay, mark: "" };
    const isAccepted = status !== null && status >= 200 && status <= 299;
    const next = nextAt === null ? "" : t.next(timeOf(nextAt));
    return { title, detail: join(errorClass ?? status, took(ms), next), mark: isAccepted ? "good" : "bad" };
  },
  verified: ({ isVerified }) =>
    isVerified
      ? { title: words.verified, detail: "", mark: "good" }
      : { title: words.notVerified, detail: "", mark: "bad" },
  ledger({ outcome, amount, reason }) {
    const why = reason === null ? "" : (words.reasons[reason] ?? reason);
    return {
      title: t.ledger,
      detail: join(words.outcomes[outcome] ?? outcome, amount ? `+${amount}` : "", why),
      mark: amount ? "good" : "warn",
    };
  },
};

/** What the report claims, and what the service accepted: the seconds that count, and the reasons why others do not. */
function describeReport({ ms, isStart, close, ranges, acceptedMs, refused, tooEarlyMs, error, state }) {
  const title = close === null ? (isStart && ranges.length === 0 ? t.started : t.report) : t.closed[close];
  if (error !== null) return { title, detail: join(t.refusedCall(error), took(ms)), mark: "bad" };
  const claimed = ranges.length === 0 ? "" : t.claimed(mergedRanges(ranges));
  const early = tooEarlyMs === null ? "" : t.tooEarly(inSeconds(tooEarlyMs));
  const reasons = refused.map((reason) => t.refusals[reason] ?? reason).join(", ");
  const detail = join(
    claimed,
    t.accepted(inSeconds(acceptedMs)),
    early,
    reasons,
    state === "watched" ? t.watched : "",
    took(ms),
  );
  const isRefused = early !== "" || reasons !== "";
  return { title, detail, mark: isRefused ? "bad" : state === "rewarded" ? "good" : "" };
}

/** Ranges that continue each other are one. */
function mergedRanges(ranges) {
  const merged = [];
  for (const { fromMs, toMs } of ranges) {
    const last = merged[merged.length - 1];
    if (last !== undefined && fromMs - last.toMs <= 250 && fromMs >= last.fromMs) last.toMs = Math.max(last.toMs, toMs);
    else merged.push({ fromMs, toMs });
  }
  return merged.map(range).join(", ");
}

const took = (ms) => (ms === null || ms === undefined ? "" : `${ms}\u00a0${words.millisecondsShort}`);
const timeOf = (at) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "medium" }).format(new Date(at));
