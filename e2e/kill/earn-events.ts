import { setTimeout as wait } from "node:timers/promises";
import { initDataOf, playedRanges, ScriptedViewer } from "../scripted-viewer.ts";
import { type CompanionApi, companionApi } from "./companion-api.ts";
import type { Nodes } from "./start-nodes.ts";
import { LastingRefusal, unlessUnavailable, withRetries } from "./with-retries.ts";

/** Results that were confirmed to users, and that the records must therefore contain. */
export interface Promises {
  readonly earned: { readonly userId: string; readonly code: string; readonly event: "rewarded" | "direct_link" }[];
  readonly spent: { readonly userId: string; readonly note: string; readonly outcome: "spent" | "insufficient" }[];
}

/** Few enough that several nodes write the same balance at the same time. */
const USERS = 40;

/**
 * Simulates people who watch ads, follow links and spend, and who retry whenever a server does not answer. They are numbered
 * from `first`: equal numbers are the same person with the same order.
 */
export function earnEvents(nodes: Nodes, { first = 0 } = {}) {
  const api = companionApi(nodes.apiUrl, nodes.secrets.backendApiKey);
  const promises: Promises = { earned: [], spent: [] };
  const underWay = new Set<Promise<void>>();
  const gaveUp: unknown[] = [];
  let started = first;

  async function earn(index: number): Promise<void> {
    const userId = userOf(index);
    const code = await newCode(api, userId, `${index}`);
    const event = index % 4 === 0 ? "rewarded" : "direct_link";
    if (event === "rewarded") await watchAd(nodes, userId, code);
    else await followLink(nodes, code, addressOf(index));
    promises.earned.push({ userId, code, event });
    if (index % 5 === 0) await spend(userId, `order ${index}`);
  }

  async function spend(userId: string, note: string): Promise<void> {
    const order = { userId, amount: 1, idempotencyKey: note, note };
    const { outcome } = await withRetries("spending", () => api.spend(order));
    if (outcome === "conflict") throw new Error(`${note} was spent with another amount`);
    promises.spent.push({ userId, note, outcome });
  }

  return {
    promises,
    /** Starts one more person. */
    begin(): void {
      const work = earn(started++)
        .catch((fault: unknown) => void gaveUp.push(fault))
        .finally(() => underWay.delete(work));
      underWay.add(work);
    },
    get underWay() {
      return underWay.size;
    },
    /** Resolves when all people got their confirmation; rejects if someone gave up. */
    async finish(): Promise<void> {
      await Promise.all(underWay);
      if (gaveUp.length > 0) throw new AggregateError(gaveUp, `${gaveUp.length} people gave up`);
    },
  };
}

export function userOf(index: number): string {
  return String(100_000 + (index % USERS));
}

export async function newCode(api: CompanionApi, userId: string, reference: string): Promise<string> {
  const { code } = await withRetries("creating a code", async () => {
    const answer = await api.createCode(userId, reference);
    return answer.outcome === "created" ? answer : undefined;
  });
  return code;
}

/** Of 512 networks in turns: many users of one network would be held as a click farm's. */
export function addressOf(index: number): string {
  return `198.${18 + ((index >> 8) & 1)}.${index & 255}.${1 + ((index >> 9) & 127)}`;
}

async function watchAd(nodes: Nodes, userId: string, code: string): Promise<void> {
  const viewer = new ScriptedViewer(nodes.adServiceUrl);
  await withRetries("watching an ad", async () => {
    const initData = initDataOf(userId, nodes.secrets);
    const answer = await unlessUnavailable(viewer.open(nodes.secrets.botId, initData, code));
    if (answer === undefined) return undefined;
    const { status, body } = answer;
    // The store has forgotten a code that it had acknowledged, for example.
    if (status !== 200) throw new LastingRefusal(`${userId} may not open ${code}: ${JSON.stringify(body)}`);
    if (body.outcome !== "session") throw new Error(`no ad for ${userId}: ${JSON.stringify(body)}`);
    if (body.state === "rewarded") return true;
    const { session_id: id, token, ad } = body;
    await withRetries("starting", () => unlessUnavailable(viewer.report(id, { token, reports: [], started: true })));
    await wait(ad.duration_ms);
    const reports = playedRanges(ad.duration_ms, 0, body.first_sequence);
    const end = await withRetries("closing", () =>
      unlessUnavailable(viewer.report(id, { token, reports, closed: "tap" })),
    );
    return end.status === 200 && end.body.state === "rewarded" ? true : undefined;
  });
}

/** What a browser at this address sends. */
export function visitHeaders(address: string): Record<string, string> {
  return {
    "user-agent":
      "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36",
    accept: "text/html",
    "accept-language": "en",
    "x-forwarded-for": address,
  };
}

export async function followLink(nodes: Nodes, code: string, address: string): Promise<void> {
  const headers = visitHeaders(address);
  await withRetries("following a link", async () => {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(`${nodes.adServiceUrl}/${code}`, { redirect: "manual", headers, signal });
    await response.arrayBuffer();
    return response.status === 302 ? true : undefined;
  });
}
