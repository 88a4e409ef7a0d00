import { setImmediate as nextTurn } from "node:timers/promises";
import { type GuardedRequestSettings, openGuardedRequests } from "../../src/outbound/guarded-request.ts";
import type {
  AnsweredRequest,
  FailedRequest,
  GuardedResult,
  OutgoingRequest,
} from "../../src/outbound/outgoing-request.ts";
import { type Behaviour, type MisbehavingServer, startMisbehavingServer } from "./misbehaving-server.ts";

export interface Fault {
  readonly what: string;
  readonly server: () => Promise<MisbehavingServer>;
  readonly expected: Partial<AnsweredRequest> | Partial<FailedRequest>;
  /** Part of the failure's message, where the class alone could be right for a wrong reason. */
  readonly detail?: RegExp;
  /** The timeout that the fault runs into, if its subject is waiting. */
  readonly waits?: keyof Timeouts;
  /** A preceding request that succeeds; "closed": the server closes its connection before the next one begins. */
  readonly after?: "request" | "closed";
  readonly connection?: OutgoingRequest["connection"];
  readonly url?: (port: number) => string;
  readonly settings?: Partial<GuardedRequestSettings>;
  /** Expected connections to the server in all; default 1. */
  readonly connections?: number;
  readonly mostWritten?: number;
}

export interface FaultRun {
  readonly result: GuardedResult;
  readonly earlier: GuardedResult | undefined;
  readonly server: MisbehavingServer;
}

/** Milliseconds. */
interface Timeouts {
  readonly connect: number;
  readonly total: number;
}

/** For faults whose subject is waiting; all others use the real timeouts, since a busy machine may be slow. */
export const shortened: Timeouts = { connect: 300, total: 1500 };

/** Runs one fault against a new server and a new sender, and closes both. Without timeouts, the sender's defaults apply. */
export async function runFault(fault: Fault, timeouts?: Timeouts): Promise<FaultRun> {
  const server = await fault.server();
  const requests = openGuardedRequests({
    isPlainHttpAllowed: true,
    allowedNetworks: { webhook: ["127.0.0.1"] },
    lookup: async () => ["127.0.0.1"],
    ...fault.settings,
  });
  const request: OutgoingRequest = {
    purpose: "webhook",
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
    url: fault.url?.(server.port) ?? `http://hook.test:${server.port}/in?a=1`,
    ...(fault.connection && { connection: fault.connection }),
    ...(fault.waits === "connect" && timeouts ? { connectTimeoutMs: timeouts.connect } : {}),
    ...(fault.waits === "total" && timeouts ? { totalTimeoutMs: timeouts.total } : {}),
  };
  try {
    const earlier = fault.after && (await requests.guardedRequest(request));
    while (fault.after === "closed" && server.open() > 0) await nextTurn();
    return { result: await requests.guardedRequest(request), earlier, server };
  } finally {
    await requests.close();
    server.close();
  }
}

type Extras = Omit<Fault, "what" | "server" | "expected">;

/** A row of the tables: the fault, the server's behaviour, and the expected outcome. */
export const fault = (what: string, behave: Behaviour, expected: Fault["expected"], extras: Extras = {}): Fault => ({
  what,
  server: () => startMisbehavingServer(behave),
  expected,
  ...extras,
});

export const answered = (status: number, text?: string): Fault["expected"] => ({
  outcome: "answered",
  status,
  address: "127.0.0.1",
  ...(text === undefined ? {} : { text }),
});

/** The connection broke before any byte of the request was sent. */
export const unsent = (errorClass: FailedRequest["errorClass"]): Fault["expected"] => ({
  outcome: "failed",
  errorClass,
  wasSent: false,
});

/** The connection broke when the request may have arrived. */
export const sent = (errorClass: FailedRequest["errorClass"]): Fault["expected"] => ({
  outcome: "failed",
  errorClass,
  wasSent: true,
});
