import { BoundedCache } from "@intermission/server/bounded-cache";
import type { Step } from "./steps.ts";

interface ViewRecord {
  code: string | undefined;
  readonly steps: Step[];
}

const MAX_USERS = 2000;
const MAX_VIEWS = 5;
const MAX_STEPS = 200;

/** The steps of each user's latest views that this process saw. Older views, and the views of a restarted server, are forgotten. */
export class ViewRecords {
  readonly #users = new BoundedCache<string, ViewRecord[]>(MAX_USERS);

  latest(userId: string): ViewRecord | undefined {
    return this.#users.get(userId)?.at(-1);
  }

  /** The bot has a new code for the user. */
  codeCreated(userId: string, code: string, times: { at: string; ms: number }): void {
    const view = this.#viewOf(userId, code);
    if (view.steps.length === 0) view.steps.push({ kind: "code", code, ...times });
  }

  /** The user has opened the mini-app, with this code or without one. */
  tapped(userId: string, code: string | undefined, at: string): void {
    append(this.#viewOf(userId, code), { kind: "tap", at });
  }

  /** A step of the mini-app that is open. `code` is that of its session, once it is known. */
  add(userId: string, step: Step, code?: string): void {
    const view = this.latest(userId) ?? this.#viewOf(userId, code);
    // A launch without a code learns it, and "another ad" gets another.
    if (code !== undefined && view.code !== undefined && view.code !== code) {
      append(this.#viewOf(userId, code), step);
      return;
    }
    if (code !== undefined) view.code = code;
    append(view, step);
  }

  /** The view of this code becomes the latest. */
  #viewOf(userId: string, code: string | undefined): ViewRecord {
    const views = this.#users.get(userId) ?? [];
    this.#users.set(userId, views);
    const known = code === undefined ? -1 : views.findIndex((view) => view.code === code);
    const view = known < 0 ? { code, steps: [] } : (views.splice(known, 1)[0] ?? { code, steps: [] });
    views.push(view);
    if (views.length > MAX_VIEWS) views.shift();
    return view;
  }
}

function append({ steps }: ViewRecord, step: Step): void {
  steps.push(step);
  // The beginning of the view stays: the oldest report goes.
  if (steps.length > MAX_STEPS) steps.splice(steps.findIndex(({ kind }) => kind === "report") || 1, 1);
}
