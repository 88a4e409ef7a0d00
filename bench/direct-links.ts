import type { BenchStack } from "./bench-stack.ts";
import { issueCodes } from "./issue-codes.ts";
import type { LoadPath } from "./load.ts";
import { addBenchBot, nextAddress } from "./operate.ts";

const agent =
  "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

/** First clicks only: each code is followed once, each time from another address. */
export async function followLinks(stack: BenchStack, count: number, round: number): Promise<LoadPath> {
  const botId = String(9_000_000_000 + round);
  const codes = await issueCodes(stack, { botId, token: await addBenchBot(stack, botId) }, count);
  const addresses = codes.map(nextAddress);
  return {
    origin: stack.urls.adService,
    status: 302,
    requestOf: (index) => ({
      method: "GET",
      path: `/${codes[index]}`,
      headers: {
        "user-agent": agent,
        accept: "text/html",
        "accept-language": "en",
        "x-forwarded-for": addresses[index] ?? "",
      },
    }),
  };
}
