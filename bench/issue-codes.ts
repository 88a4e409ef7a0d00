import { Pool } from "undici";
import type { BenchStack } from "./bench-stack.ts";

/** Codes for `count` different users, asked for over 64 connections. */
export async function issueCodes(
  stack: BenchStack,
  bot: { botId: string; token: string },
  count: number,
): Promise<string[]> {
  const pool = new Pool(stack.urls.adService, { connections: 64 });
  const codes: string[] = new Array(count);
  let next = 0;
  const connection = async () => {
    while (next < count) {
      const index = next++;
      const { statusCode, body } = await pool.request({
        method: "POST",
        path: "/client/v1/codes",
        headers: { authorization: `Bearer ${bot.token}`, "content-type": "application/json" },
        body: JSON.stringify({ bot_id: bot.botId, user_tg_id: String(1_000_000 + index) }),
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`POST /client/v1/codes answered ${statusCode}: ${text}`);
      codes[index] = JSON.parse(text).code;
    }
  };
  await Promise.all(Array.from({ length: 64 }, connection));
  await pool.close();
  return codes;
}
