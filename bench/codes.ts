import type { BenchStack } from "./bench-stack.ts";
import { load } from "./load.ts";
import type { Measured } from "./run.ts";

export async function measureCodes(
  stack: BenchStack,
  floorUrl: string,
  count: number,
  round: number,
): Promise<Measured> {
  const requestOf = (index: number) => ({
    method: "POST" as const,
    path: "/client/v1/codes",
    headers: { authorization: `Bearer ${stack.secrets.adApiToken}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: stack.secrets.botId, user_tg_id: String(10_000_000 + round * 1_000_000 + index) }),
  });
  const floor = await load(floorUrl, count, requestOf, 200);
  const ours = await load(stack.urls.adService, count, requestOf, 200);
  return { floor, ours };
}
