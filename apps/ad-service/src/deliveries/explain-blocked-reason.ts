import type { BlockedReason } from "./blocked-reason.ts";

/** Why nothing is sent to a bot's endpoint, and the operator's next step. */
export function explainBlockedReason(blockedReason: BlockedReason, botId: string): string {
  const enable = `enable it with: endpoints enable ${botId}`;
  const reasons: Record<BlockedReason, string> = {
    "no-endpoint": `the bot has no address for webhooks; give it one with: bots update ${botId} --webhook-url <url>`,
    pending: `its endpoint has not answered a test 2xx yet; see what it answers with: endpoints test ${botId}`,
    operator: `its endpoint was disabled by an operator; ${enable}`,
    gone: `its endpoint was disabled for answering only 410 Gone; ${enable}`,
    failing: `its endpoint was disabled for accepting nothing for five days; ${enable}`,
    "no-token": `the bot has no token to sign with; make one with: tokens create --bot-id ${botId}`,
  };
  return reasons[blockedReason];
}
