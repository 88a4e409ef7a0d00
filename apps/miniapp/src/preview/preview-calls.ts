import type { ReportResponse } from "@intermission/ad-core/player-api";
import type { Answer, ViewCalls } from "../ad-service-client.ts";

/** The end of a video may be reported slightly before its stated duration. */
const SLACK_MS = 500;

/** Answers a player as the ad service does to an honest viewer, without a call: nothing is counted anywhere. */
export function previewCalls(durationMs: number): ViewCalls {
  let acceptedMs = 0;
  return {
    async sendReports(_, { reports, closed }): Promise<Answer<ReportResponse>> {
      for (const { to_ms: to } of reports) acceptedMs = Math.max(acceptedMs, to);
      const isWatched = acceptedMs >= durationMs - SLACK_MS;
      const body: ReportResponse = {
        state: isWatched ? (closed ? "rewarded" : "watched") : "playing",
        accepted_ms: acceptedMs,
        acknowledged: reports.map(({ sequence }) => sequence),
        refused: [],
        server_time: new Date().toISOString(),
      };
      return { outcome: "answered", body };
    },
    beaconReports() {},
    // The player shows the fault and goes on trying, as where the service has no other ad.
    reportFault: async () => ({ outcome: "unreachable", retryAfterMs: 0 }),
  };
}
