// memoryStore loads this file when it is used first, or wrongly: the core stays small.

const warnings = {
  perRequest:
    "memoryStore() was made after another one had handled an event. If it is made for each request, an event that is sent twice is paid twice: make webhook() and its store once, outside of the handler; on Workers, which keep no memory, use a persistent store.",
  forgets:
    "memoryStore() is of one process, and forgets its events when that ends: an event that is sent again afterwards, or to another process, is paid again. Pass a persistent store to webhook(), such as fileStore of @intermission/publisher/node, or one of @intermission/publisher/stores.",
};

/** Warns unless it was shown in this process. Tests make many stores, each for a reason. */
export function warnOnce(warning: keyof typeof warnings, shown: Set<string>): void {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  if (shown.has(warning) || (warning === "perRequest" && process?.env?.NODE_ENV === "test")) return;
  shown.add(warning);
  console.warn(warnings[warning]);
}
