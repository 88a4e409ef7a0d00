import { AdsError } from "../ads-error.ts";
import type { Ads } from "../create-ads.ts";

interface Host {
  write(line: string): void;
  writeError(line: string): void;
  readonly signal: AbortSignal;
}

/**
 * Has the ad service send a test event with a code of a listed tester to the bot's webhook, and shows what it answered. The
 * event has `test: true`: a receiver with `paysTesters` runs its paying handler, and the code itself earns nothing.
 */
export async function trigger(
  ads: Pick<Ads, "createCode" | "testWebhook">,
  { userId, event }: { userId: string; event: "rewarded" | "direct_link" },
  host: Host,
): Promise<number> {
  const { signal } = host;
  try {
    const { code } = await ads.createCode({ userId, reference: "trigger" }, { signal });
    const tested = await ads.testWebhook({ event, userId, code }, { signal });
    const { eventId, isDelivered, status, errorClass, answer = "", advice } = tested;
    const result = status ?? errorClass ?? "no answer";
    host.write(`${event}  test  user ${userId}  code ${code}  reference "trigger"  ${eventId}  → ${result}`);
    if (isDelivered) {
      host.write("    The handler ran if the receiver has paysTesters: true, or ignores `test` in the event.");
      if (advice !== undefined) host.write(`    ! ${advice}`);
      return 0;
    }
    const line = answer.trim().split(/\r?\n/, 1)[0] ?? "";
    if (line !== "") host.write(`    the receiver answered: ${line.slice(0, MAX_ANSWER_CHARACTERS)}`);
    if (advice !== undefined) host.write(`    ${advice}`);
    return 1;
  } catch (error) {
    if (signal.aborted) return 0;
    if (!(error instanceof AdsError)) throw error;
    host.writeError(`${error.message} (${error.code}). ${hintOf(error.code, userId)}`);
    return 1;
  }
}

const MAX_ANSWER_CHARACTERS = 200;

function hintOf(code: string, userId: string): string {
  if (code === "NOT_A_TESTER") return `The operator lists testers: pnpm ads bots update <bot-id> --tester ${userId}`;
  return "intermission-publisher doctor checks what is wrong.";
}
