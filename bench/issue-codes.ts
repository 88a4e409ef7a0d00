import { Pool } from "undici";
import type { Target } from "./bench-stack.ts";
import { codeOf, codesOf } from "./clicks.ts";

/** A code for each of these users, in their order, which answers under load do not keep. */
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
