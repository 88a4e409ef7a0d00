import type { Measure } from "../clicks.ts";
import { DAY_MS } from "./filled-period.ts";
import type { GrowingStack } from "./growth-target.ts";

const REPORTS = 48;
const DAYS = 28;

/** Measures the operator's report of the bot by day and campaign, over four weeks, four at a time. */
export async function measureOperatorReports({ stack }: GrowingStack, measure: Measure): Promise<void> {
  const until = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  const from = new Date(until.getTime() - DAYS * DAY_MS);
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
