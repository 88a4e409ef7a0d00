import { routesOf } from "@intermission/operator-api/operator-routes";
import { type ReportAddress, readableBy } from "@intermission/operator-api/report-address";
import type { ScheduleEnd } from "@intermission/operator-api/saved-reports";
import type { Person } from "@intermission/operator-api/session";

export type Reader = Pick<Person, "role" | "botIds" | "advertiserId"> & { isDisabled: boolean };

/** Why the mails of a report end; undefined: the person may read the report as it was saved. */
export function endOfRight(reader: Reader, address: ReportAddress): ScheduleEnd | undefined {
  if (reader.isDisabled) return "disabled";
  const { role, botIds, advertiserId } = reader;
  const ownsNothing = (role === "publisher" && botIds.length === 0) || (role === "advertiser" && advertiserId === null);
  if (ownsNothing || !routesOf(role).includes("exportStats")) return "no-right";
  const readable = readableBy(reader, address);
  const names = Object.keys(address) as (keyof ReportAddress)[];
  return names.every((name) => readable[name] === address[name]) ? undefined : "no-right";
}

/** The person's own objects, to which a report is limited, as on the screen of reports. */
export function ownObjects(
  { role, botIds, advertiserId }: Reader,
  { bot, advertiser }: ReportAddress,
): { botId?: string | undefined; advertiser?: string | undefined } {
  return {
    botId: role === "publisher" ? (bot ?? botIds[0]) : bot,
    advertiser: role === "advertiser" ? (advertiserId ?? undefined) : advertiser,
  };
}
