import { adviseOnAnswer } from "@intermission/ad-core/delivery-advice";
import { refusalOfAnswer } from "@intermission/ad-core/webhook-refusal";
import { AdsError } from "../ads-error.ts";
import type { Ads, WebhookTest } from "../create-ads.ts";
import { unansweredMessage } from "../failed-call.ts";

interface Bot {
  readonly url: string;
  readonly botId: string;
  readonly ads: Ads;
}

interface Host {
  write(line: string): void;
}

/** What a check found: `fix` says what to do about a failure or a warning. */
type Finding = {
  readonly isFine: boolean;
  /** It works, and may not do what it should. */
  readonly isWarning?: boolean;
  readonly text: string;
  readonly fix?: string;
};

const TIMEOUT_MS = 10_000;

/** Half of what `verifyWebhook` allows by default. */
const MAX_CLOCK_SECONDS = 150;

/** Checks everything that a bot needs, in an order in which the first failure explains the later ones. */
export async function doctor({ url, botId, ads }: Bot, host: Host): Promise<number> {
  let failures = 0;
  const report = (name: string, { isFine, isWarning = false, text, fix }: Finding) => {
    if (!isFine || isWarning) failures += 1;
    host.write(`${isWarning ? "!" : isFine ? "✓" : "✗"} ${name}: ${text}${fix === undefined ? "" : `\n    ${fix}`}`);
    return isFine;
  };
  const check = async (name: string, run: () => Promise<Finding>) => report(name, await run().catch(findingOf));

  let date: string | null = null;
  const isReachable = await check("ad service", async () => {
    const response = await fetch(`${url}/client/v1/events?limit=1`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause) => {
      throw unreachable(cause, { address: url, server: "the ad service" });
    });
    await response.body?.cancel();
    date = response.headers.get("date");
    // Without a token, a service of the contract answers 401.
    if (response.status === 401) return { isFine: true, text: `${url} answers` };
    return {
      isFine: false,
      text: `${url} answered ${response.status} instead of 401 to a request without a token`,
      fix: "Check the address: it is the ad service's own, without /client/v1.",
    };
  });
  if (!isReachable) return 1;
  report("clock", clockFinding(date));

  const isKnown = await check("token", async () => {
    const { isAvailable, reason } = await ads.availability(botId);
    const ad = isAvailable ? "an ad is available" : `no ad is available now (${reason})`;
    return { isFine: true, text: `accepted; ${ad}` };
  });
  if (!isKnown) return 1;

  let miniappUrl: string | undefined;
  const isOwnBot = await check("bot", async () => {
    // The bot itself stands for a user, who never watches an ad.
    const created = await ads.createCode({ userId: botId, reference: "doctor" });
    miniappUrl = created.miniappUrl;
    return { isFine: true, text: `${botId} gets codes` };
  });
  if (!isOwnBot) {
    // The token decides whose webhook is tested: it may be that of another bot, which is at work.
    host.write("- webhook: not tested, because no code was created for this bot");
    return 1;
  }
  await check("webhook", async () => webhookFinding(await ads.testWebhook()));
  if (miniappUrl !== undefined) await check("mini-app", () => miniappFinding(miniappUrl ?? ""));
  return failures === 0 ? 0 : 1;
}

function clockFinding(date: string | null): Finding {
  const seconds = Math.round((Date.now() - Date.parse(date ?? "")) / 1000);
  if (Number.isNaN(seconds)) return { isFine: true, text: "unknown, because the ad service sends no Date" };
  if (Math.abs(seconds) <= MAX_CLOCK_SECONDS)
    return { isFine: true, text: `${Math.abs(seconds)} s from the ad service's` };
  return {
    isFine: false,
    text: `${Math.abs(seconds)} s ${seconds > 0 ? "ahead of" : "behind"} the ad service's`,
    fix: "Synchronise this machine's clock (NTP): webhooks that seem older than 5 minutes are refused.",
  };
}

function webhookFinding({ isDelivered, status, errorClass, answer, advice, warnings }: WebhookTest): Finding {
  const text = `the test event was answered ${status}`;
  if (isDelivered && warnings.length > 0) {
    const fix = advice ?? `The ad service warns: ${warnings.join(", ")}.`;
    return { isFine: true, isWarning: true, text: `${text}, and probably nothing records events there`, fix };
  }
  if (isDelivered) return { isFine: true, text };
  const refusal = status === 401 ? refusalOfAnswer(answer ?? "") : undefined;
  const got = refusal ? `401 (${refusal.fault})` : `${status ?? errorClass ?? "no answer"}: ${firstLine(answer ?? "")}`;
  const outcome = { status: status ?? null, errorClass: errorClass ?? null, text: answer ?? null };
  const fix = adviseOnAnswer(outcome, "publisher");
  return { isFine: false, text: `the test event got ${got}`.trim(), ...(fix !== undefined && { fix }) };
}

const MAX_ANSWER_CHARACTERS = 200;

function firstLine(text: string): string {
  return (text.trim().split(/\r?\n/, 1)[0] ?? "").slice(0, MAX_ANSWER_CHARACTERS);
}

function unreachable(cause: unknown, { address, server }: { readonly address: string; readonly server: string }) {
  const message = unansweredMessage(cause, { address, server, timeoutMs: TIMEOUT_MS });
  return new AdsError(message, { code: "UNREACHABLE", cause });
}

async function miniappFinding(link: string): Promise<Finding> {
  const response = await fetch(link, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause) => {
    throw unreachable(cause, { address: link, server: "the mini-app" });
  });
  const page = await response.text();
  const { protocol, hostname } = new URL(link);
  if (!response.ok)
    return {
      isFine: false,
      text: `${link} answered ${response.status}`,
      fix: "The operator builds and serves the mini-app (npm run build; MINIAPP_URL).",
    };
  const privacy = /<link rel="privacy-policy"/.test(page)
    ? {}
    : { fix: "It links to no privacy policy, which Telegram requires: the operator sets one with --privacy-url." };
  if (protocol === "https:") return { isFine: true, text: `${link} is served`, ...privacy };
  const isLoopback = hostname === "localhost" || hostname.startsWith("127.");
  if (isLoopback)
    return { isFine: true, text: `${link} is served, for a demo only: Telegram opens https addresses`, ...privacy };
  return {
    isFine: false,
    text: `${link} is not https, so Telegram does not open it`,
    fix: "The operator puts a proxy with TLS in front, and sets PUBLIC_URL or MINIAPP_URL.",
  };
}

const fixOfCode: Record<string, string> = {
  UNREACHABLE: "Check the address, the network and whether the ad service runs.",
  UNAUTHORIZED:
    "Use the API token that the operator made for this bot, or ask for another: pnpm ads tokens create --bot-id <digits>",
  FORBIDDEN: "The token belongs to another bot: compare --bot-id with the bot that the token was made for.",
  BOT_SUSPENDED: "The operator has suspended the bot: ask the operator.",
  NO_ENDPOINT: "The operator sets one: pnpm ads bots update <digits> --webhook-url <address>",
  TEST_UNDER_WAY: "Try again in a few seconds.",
};

function findingOf(error: unknown): Finding {
  if (!(error instanceof AdsError)) throw error;
  const fix = fixOfCode[error.code];
  return { isFine: false, text: `${error.message} (${error.code})`, ...(fix !== undefined && { fix }) };
}
