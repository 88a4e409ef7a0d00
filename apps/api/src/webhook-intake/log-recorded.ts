import type { Logger } from "@intermission/server/logger";
import type { EventLine, RecordedCount } from "./record-events.ts";

/**
 * One line for each new event, with the ids of the ad service's log; never a code. Repeats have none. The ad service has
 * logged what is paid: here it is a line of `debug`, so that a reward has one line at both servers together.
 */
export function logRecorded(
  logger: Pick<Logger, "info" | "debug" | "isLevelEnabled">,
  { botId, source }: { botId: string; source: "webhook" | "reconciliation" },
  lines: readonly EventLine[],
  counts: readonly RecordedCount[],
): void {
  const logged = logger.isLevelEnabled("debug") ? counts : counts.filter(({ reason }) => reason !== null);
  if (logged.length === 0) return;
  const byId = new Map(lines.map((line) => [line.eventId, line]));
  for (const { reason, eventIds } of logged) {
    for (const eventId of eventIds) {
      const { userId, event, code } = byId.get(eventId) ?? {};
      // An event without an id is recorded under its code.
      const isCode = code !== undefined && code !== null && eventId.startsWith(code);
      const facts = { botId, userId, ...(!isCode && { eventId }), event, source };
      if (reason === null) logger.debug(facts, "an event is paid");
      else if (reason === "reversed") logger.info(facts, "what a task paid is taken back");
      else logger.info({ ...facts, reason }, "an event is recorded and pays nothing");
    }
  }
}
