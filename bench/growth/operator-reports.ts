import type { Measure } from "../clicks.ts";
import { DAY_MS, filledDays, filledUntil } from "./filled-tables.ts";
import type { GrowingStack } from "./growth-target.ts";

const REPORTS = 48;

/** Measures the operator's report of the bot by day and campaign, over all filled days, four at a time. */
export async function measureOperatorReports({ stack }: GrowingStack, measure: Measure): Promise<void> {
  const until = filledUntil();
  const from = new Date(until.getTime() - filledDays * DAY_MS);
  const query = new URLSearchParams({
    by: "day,campaign",
    botId: stack.secrets.botId,
    from: from.toISOString(),
    to: until.toISOString(),
  });
  const request = {
    method: "GET" as const,
    path: `/operator/v1/stats?${query}`,
    headers: { authorization: `Bearer ${stack.secrets.operatorToken}` },
  };
  const requests = Array.from({ length: REPORTS }, () => request);
  await measure("operator report", { url: stack.urls.adService, status: 200, requests, connections: 4 });
}
