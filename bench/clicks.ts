import { Pool } from "undici";
import type { Target } from "./bench-stack.ts";
import type { Load } from "./load.ts";

/** Measures one path under load, and returns the bodies of its answers if the load is captured. */
export type Measure = (path: string, load: Load) => Promise<readonly string[]>;

const agent =
  "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

/** Measures codes for new users, and the first click of each code, each from an address of its own. */
export async function measureClicks(target: Target, count: number, measure: Measure): Promise<void> {
  const issued = await measure("code", codesOf(target, newUsers(count)));
  await measure("click", clicksOf(target, issued.map(codeOf)));
}

export function codesOf({ urls, bot }: Pick<Target, "urls" | "bot">, users: readonly string[]): Load {
  const headers = { authorization: `Bearer ${bot.token}`, "content-type": "application/json" };
  return {
    url: urls.adService,
    status: 200,
    isCaptured: true,
    requests: users.map((userId) => ({
      method: "POST",
      path: "/client/v1/codes",
      headers,
      body: JSON.stringify({ bot_id: bot.botId, user_tg_id: userId }),
    })),
  };
}

/** A code for each of these users, in the order of the users; answers under load arrive in another order. */
export async function issueCodes(target: Pick<Target, "urls" | "bot">, users: readonly string[]): Promise<string[]> {
  const { url, requests } = codesOf(target, users);
  const pool = new Pool(url, { connections: 64 });
  const codes: string[] = [];
  let next = 0;
  const connection = async () => {
    while (next < requests.length) {
      const index = next++;
      const request = requests[index];
      if (request === undefined) return;
      const { statusCode, body } = await pool.request(request);
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${request.path} answered ${statusCode}: ${text}`);
      codes[index] = codeOf(text);
    }
  };
  try {
    await Promise.all(Array.from({ length: 64 }, connection));
  } finally {
    await pool.close();
  }
  return codes;
}

export function clicksOf({ urls }: Pick<Target, "urls">, codes: readonly string[]): Load {
  const requests = codes.map((code) => ({
    method: "GET" as const,
    path: `/${code}`,
    headers: { "user-agent": agent, accept: "text/html", "accept-language": "en", "x-forwarded-for": newAddress() },
  }));
  return { url: urls.adService, status: 302, requests };
}

export function codeOf(answer: string): string {
  return JSON.parse(answer).code;
}

let users = 10_000_000;

/** Users without earlier requests. */
export function newUsers(count: number): string[] {
  return Array.from({ length: count }, () => String(++users));
}

const networks = 4096;
const visitorsOfNetwork = 16;
let addresses = 0;

/**
 * A new visitor's address, because requests per address are limited. Networks (/24) take turns, and none has enough visitors
 * to look suspicious.
 */
export function newAddress(): string {
  const turn = Math.floor(addresses / networks);
  const network = Math.floor(turn / visitorsOfNetwork) * networks + (addresses % networks);
  addresses += 1;
  return `${11 + (network >> 16)}.${(network >> 8) & 255}.${network & 255}.${1 + (turn % visitorsOfNetwork)}`;
}
