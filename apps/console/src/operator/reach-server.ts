import { CallError } from "./call-operator.ts";

/** Whether the server answers at all. */
export function isReachable(): Promise<boolean> {
  return fetch("/console/", { method: "HEAD", cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Loads a screen. The router reloads the page once where a screen's file is missing, which helps after an update of the server.
 * Without a connection, that would end in the browser's own page of errors: then the failure is said on the page instead.
 */
export function orUnreachable<Screen>(load: () => Promise<Screen>): () => Promise<Screen> {
  return () =>
    load().catch(async (error: unknown) => {
      if (await isReachable()) throw error;
      throw new CallError({ status: 0, code: "UNREACHABLE", message: "the ad service does not answer" });
    });
}
