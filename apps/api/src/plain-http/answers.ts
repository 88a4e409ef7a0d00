import { ledgerEventType } from "@intermission/ad-core/event-words";
import type { RewardEntry } from "@intermission/publisher/companion";
import type { inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import type { AppRouter } from "../router.ts";
import { receiptOutcomes, refusalReasons } from "../verbs.ts";

type Outputs = inferRouterOutputs<AppRouter>;

/** `rewards.balance` and so on: every procedure that answers once. */
export type AnsweringPath = {
  [Part in keyof Outputs]: `${Part & string}.${Exclude<keyof Outputs[Part], "watch"> & string}`;
}[keyof Outputs];

type AnswerOf<Path> = Path extends `${infer Part}.${infer Name}`
  ? Part extends keyof Outputs
    ? Name extends keyof Outputs[Part]
      ? Outputs[Part][Name]
      : never
    : never
  : never;

interface Described<Answer> {
  description: string;
  answer: z.ZodType<Answer>;
}

const moment = z.iso.datetime();
const balance = z.int();

export const rewardEntry: z.ZodType<RewardEntry> = z.object({
  entryId: z.string(),
  userId: z.string(),
  event: ledgerEventType.nullable().describe("null for a spend"),
  code: z.string().nullable(),
  reference: z.string().nullable(),
  startParam: z.string().nullable().describe("the publisher's own `startapp` value of the launch"),
  eventId: z.string().nullable(),
  amount: z.int().describe("negative for a spend and for a task that is taken back; 0 for an event that paid nothing"),
  reason: z.string().nullable().describe("why an event paid nothing, or the note of a spend"),
  balance: balance.nullable().describe("the user's balance after this entry"),
  recordedAt: moment,
});

const status = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("not-yet") }),
  z.object({ outcome: z.literal("credited"), amount: z.int(), balance, event: ledgerEventType, recordedAt: moment }),
  z
    .object({ outcome: z.literal("reversed"), amount: z.int(), balance, event: ledgerEventType, recordedAt: moment })
    .describe("a task was paid, and its user left too early; `amount` is negative"),
  z.object({
    outcome: z.literal("refused"),
    reason: z.enum(refusalReasons),
    amount: z.literal(0),
    balance,
    recordedAt: moment,
  }),
]);

const receipts = z.array(
  z.object({
    receivedAt: moment,
    outcome: z.enum(receiptOutcomes),
    reason: z.string().nullable(),
    eventId: z.string(),
    event: ledgerEventType.nullable(),
    userId: z.string().nullable(),
    code: z.string().nullable(),
    amount: z.int().nullable(),
    revenueMicros: z
      .int()
      .nullable()
      .describe("what the event is worth to the publisher; null unless the ad service says so"),
    currency: z.string().nullable().describe("of `revenueMicros` (ISO 4217)"),
    duplicates: z.int(),
    lastDuplicateAt: moment.nullable(),
    rawBody: z.string().nullable(),
    signatureHeader: z.string().nullable(),
    verified: z.literal(true),
  }),
);

const erasure = z.object({
  botId: z.string(),
  userId: z.string(),
  isErased: z.boolean(),
  tables: z.array(z.object({ table: z.string(), becomes: z.string(), rows: z.int() })),
});

const created = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("created"),
    code: z.string(),
    expiresInSeconds: z.int(),
    expiresAt: moment,
    miniappUrl: z.string().describe("for a web_app button of an inline keyboard"),
    startappLink: z.string().nullable().describe("for a plain link into Telegram"),
    directLink: z.string(),
  }),
  z.object({
    outcome: z.literal("unavailable"),
    reason: z.enum(["rate-limited", "ad-service-down", "timeout", "refused", "unexpected-answer"]),
    retryAfterSeconds: z.int().exactOptional(),
  }),
]);

const signedIn = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("signed-in"),
    sessionToken: z.string(),
    expiresAt: moment,
    user: z.object({ id: z.string() }),
  }),
  z.object({ outcome: z.literal("refused"), reason: z.enum(["invalid", "expired"]) }),
]);

const spent = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("spent"), balance, entryId: z.string() }),
  z.object({ outcome: z.literal("insufficient"), balance }),
  z.object({ outcome: z.literal("conflict") }).describe("the key was used for another amount"),
]);

/** What each procedure answers. The compiler refuses a procedure that is missing, and an answer that differs. */
export const described: { [Path in AnsweringPath]: Described<AnswerOf<Path>> } = {
  "telegramUser.signIn": {
    description: "Exchanges Telegram's signed launch data for a session token of its user.",
    answer: signedIn,
  },
  "codes.create": {
    description: "Requests a code for a user, with its links. A repeat returns the open code.",
    answer: created,
  },
  "rewards.status": {
    description: "The outcome of a code; without a code, of the user's newest event.",
    answer: status,
  },
  "rewards.list": {
    description: "Entries of the ledger, newest first.",
    answer: z.object({ entries: z.array(rewardEntry), next: z.string().nullable() }),
  },
  "rewards.balance": { description: "A user's balance.", answer: z.object({ balance }) },
  "rewards.spend": {
    description: "Takes units from a user. The key makes a repeat safe: it returns the answer of the first call.",
    answer: spent,
  },
  "rewards.cursor": {
    description: "The current end of the ledger: a watch from it includes everything that is recorded later.",
    answer: z.object({ cursor: z.string() }),
  },
  "receipts.latest": {
    description: "The latest events, newest first, with the bytes that were signed.",
    answer: receipts,
  },
  "receipts.list": { description: "Every signed webhook, newest first.", answer: receipts },
  "receipts.refused": {
    description: "The number of webhooks refused before their signature was verified, by hour and reason.",
    answer: z.array(z.object({ hour: moment, reason: z.string(), refused: z.int(), lastAt: moment })),
  },
  "users.kept": { description: "Counts the records of a user.", answer: erasure },
  "users.erase": { description: "Erases a user permanently; the ledger's sums stay.", answer: erasure },
};
