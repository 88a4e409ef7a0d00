import { z } from "zod";
import { eventType } from "./wire-fields.ts";

/** Words of tasks and of all events: apart, since few screens of the console need them. */

/** What a task earns, and what takes it back. Only bots that ask for tasks get these events. */
const taskEventType = z.enum(["task", "task_reversed"]);

/**
 * Where a task stands. It is `joined` for a moment only: its hold begins with the join. `lapsed`: nobody joined in time;
 * `void`: somebody joined in a way that does not count.
 */
export const taskState = z.enum(["offered", "opened", "held", "kept", "left", "lapsed", "void"]);
export type TaskState = z.output<typeof taskState>;

/** What a ledger of rewards has entries of. */
export const ledgerEventType = z.enum([...eventType.options, ...taskEventType.options]);
export type LedgerEventType = z.infer<typeof ledgerEventType>;

/**
 * Everything that webhooks and lists of events name. `interstitial`: one was charged, and nobody is rewarded; only for bots that
 * ask for it.
 */
export const anyEventType = z.enum([...ledgerEventType.options, "interstitial"]);
export type AnyEventType = z.infer<typeof anyEventType>;
