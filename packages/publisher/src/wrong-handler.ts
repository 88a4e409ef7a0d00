// callHandler loads this file for a handler that cannot be right: the core stays small.

/** The error of a handler that returned a function or a generator. */
export function unrun(returned: unknown): TypeError {
  const kind = typeof returned === "function" ? "function" : "generator";
  return new TypeError(
    `the handler returned a ${kind}, which nothing runs: make the handler an async function, and await in it what it calls`,
  );
}
