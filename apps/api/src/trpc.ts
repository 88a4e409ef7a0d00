import { initTRPC, TRPCError } from "@trpc/server";
import { z } from "zod";
import type { TelegramUserVerbs, Verbs } from "./verbs.ts";

/** The caller of a request, identified once: by the Authorization header, or by the socket in the data folder. */
export type Caller =
  | { kind: "backend"; botId: string }
  | { kind: "user"; botId: string; userId: string }
  /** `refusal`: what is wrong with the Authorization header, in a sentence for the caller. */
  | { kind: "anonymous"; refusal: string };

/**
 * Procedures reach the store through `ofBot`, not by imports: clients import the router's type without the types of Node or
 * of a database.
 */
export interface Context extends TelegramUserVerbs {
  readonly caller: Caller;
  ofBot(botId: string): Verbs;
  /** The client's network address. */
  readonly address: string;
  /** Whether an error is temporary, such as an outage of the database. */
  readonly isUnavailable: (error: unknown) => boolean;
}

const t = initTRPC.context<Context>().create({
  isServer: true,
  // Otherwise NODE_ENV decides whether stacks are sent to callers.
  isDev: false,
  sse: {
    ping: { enabled: true, intervalMs: 10_000 },
    client: { reconnectAfterInactivityMs: 25_000 },
  },
  errorFormatter: ({ shape, error }) => {
    if (error.code === "INTERNAL_SERVER_ERROR") return { ...shape, message: "internal error" };
    // Otherwise the message is zod's list of issues as JSON.
    return error.cause instanceof z.ZodError ? { ...shape, message: sentenceOf(inputFaults(error.cause)) } : shape;
  },
});

export interface InputFault {
  readonly field: string;
  readonly message: string;
}

/** What is wrong with an input, by field; never names the value that was sent. */
export function inputFaults({ issues }: z.ZodError): InputFault[] {
  return issues.map(({ path, message }) => ({ field: path.join(".") || "input", message }));
}

export function sentenceOf(faults: readonly InputFault[]): string {
  return faults.map(({ field, message }) => `${field}: ${message}`).join("; ");
}

export const router = t.router;

/**
 * Turns a temporary error into `SERVICE_UNAVAILABLE`, which is answered 503 with `Retry-After`; returns any other
 * unchanged.
 */
export function unavailableOr(error: unknown, ctx: Pick<Context, "isUnavailable">): unknown {
  if (error instanceof TRPCError && error.cause === undefined) return error;
  const cause = error instanceof TRPCError ? error.cause : error;
  if (!ctx.isUnavailable(cause)) return error;
  return new TRPCError({ code: "SERVICE_UNAVAILABLE", message: "try again later", cause });
}

const procedure = t.procedure.use(async ({ ctx, next }) => {
  const result = await next();
  if (!result.ok) throw unavailableOr(result.error, ctx);
  return result;
});

/** Open to all callers: only for exchanging launch data for a session token. */
export const publicProcedure = procedure;

function unauthorized({ refusal }: Extract<Caller, { kind: "anonymous" }>): TRPCError {
  return new TRPCError({ code: "UNAUTHORIZED", message: refusal });
}

/** A bot's own backend, by its key. */
export const backendProcedure = procedure.use(({ ctx, next }) => {
  if (ctx.caller.kind === "anonymous") throw unauthorized(ctx.caller);
  if (ctx.caller.kind !== "backend") throw new TRPCError({ code: "FORBIDDEN", message: "for the bot's backend only" });
  return next({ ctx: { caller: ctx.caller, bot: ctx.ofBot(ctx.caller.botId) } });
});

/** A user, who reads only their own rewards, or the bot's backend, which names the user. */
export const userOrBackendProcedure = procedure.use(({ ctx, next }) => {
  if (ctx.caller.kind === "anonymous") throw unauthorized(ctx.caller);
  return next({ ctx: { caller: ctx.caller, bot: ctx.ofBot(ctx.caller.botId) } });
});

/**
 * Text that PostgreSQL stores unchanged: other text fails, or is stored as a different text, so that two keys could collide.
 * (`isWellFormed` is unknown to the clients that read this file's types.)
 */
export const storableText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => !/\p{Surrogate}|\0/u.test(text), "must be well-formed text without U+0000");

/** The user whose rewards are read: for a user themselves, whatever they request; for a backend, the user that it names. */
export function subjectOf(
  caller: Exclude<Caller, { kind: "anonymous" }>,
  userId: string | undefined,
): string | undefined {
  if (caller.kind === "backend") return userId;
  if (userId !== undefined && userId !== caller.userId) {
    throw new TRPCError({ code: "FORBIDDEN", message: "a user reads only their own rewards" });
  }
  return caller.userId;
}
