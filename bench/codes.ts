import type { BenchStack } from "./bench-stack.ts";
import type { LoadPath } from "./load.ts";

/** Codes for ever new users. */
export async function createCodes({ urls, secrets }: BenchStack, _count: number, round: number): Promise<LoadPath> {
  return {
    origin: urls.adService,
    status: 200,
    requestOf: (index) => ({
      method: "POST",
      path: "/client/v1/codes",
      headers: { authorization: `Bearer ${secrets.adApiToken}`, "content-type": "application/json" },
      body: JSON.stringify({ bot_id: secrets.botId, user_tg_id: String(10_000_000 + round * 1_000_000 + index) }),
    }),
  };
}
