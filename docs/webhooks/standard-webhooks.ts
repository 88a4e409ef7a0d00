import { Webhook } from "standardwebhooks";

/** `body`: the text of the bytes as they came. `tokens`: yours, the new one and the old one while you rotate. */
export function readEvent(headers: Record<string, string>, body: string, tokens: string[]): unknown {
  const faults: unknown[] = [];
  // With an empty token, from a variable that is not set, anybody could sign.
  for (const token of tokens.filter(Boolean)) {
    try {
      // The key is the token's own bytes. Without the format, the library would decode them as base64, and throw.
      return new Webhook(token, { format: "raw" }).verify(body, headers);
    } catch (fault) {
      faults.push(fault);
    }
  }
  throw new AggregateError(faults, "the webhook is not genuine");
}

// --- command line: takes webhooks as lines of JSON { headers, body (base64), tokens }, sent now, answers each with a line
import { readFileSync } from "node:fs";

for (const line of readFileSync(0, "utf8").trimEnd().split("\n")) {
  const { headers, body, tokens } = JSON.parse(line);
  try {
    readEvent(headers, Buffer.from(body, "base64").toString(), tokens);
    console.log("genuine");
  } catch {
    console.log("refused");
  }
}
