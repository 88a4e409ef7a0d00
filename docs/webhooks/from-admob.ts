/** Of the ad unit whose callback it takes the place of. */
interface AdmobUnit {
  ad_unit: string;
  reward_amount: number;
  reward_item: string;
}

/** The parameters of AdMob's callback, from the body of a webhook that was verified. Undefined: it rewards nobody. */
export function admobParameters(body: string, unit: AdmobUnit): URLSearchParams | undefined {
  const { event, test, event_id, user_tg_id, reference, occurred_at } = JSON.parse(body);
  if (event !== "rewarded" || test) return undefined;
  return new URLSearchParams({
    ad_network: "intermission",
    ad_unit: unit.ad_unit,
    ...(reference !== undefined && { custom_data: reference }),
    reward_amount: String(unit.reward_amount),
    reward_item: unit.reward_item,
    timestamp: String(Date.parse(occurred_at)),
    transaction_id: event_id,
    user_id: user_tg_id,
  });
}

// --- command line: takes bodies as lines, answers each with the parameters
import { readFileSync } from "node:fs";

for (const line of readFileSync(0, "utf8").trimEnd().split("\n"))
  console.log(
    admobParameters(line, { ad_unit: "2747237135", reward_amount: 5, reward_item: "coins" })?.toString() ?? "nobody",
  );
