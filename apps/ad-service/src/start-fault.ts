/** What keeps the server from starting and is its operator's to mend: told in one line with the next step, no trace. */
export class StartFault extends Error {
  override readonly name = "StartFault";
}

/** The words for the operator, or undefined for a defect of ours. */
export function startFaultOf(error: unknown): string | undefined {
  if (error instanceof StartFault) return error.message;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const words = "code" in cause && typeof cause.code === "string" ? wordsOf(cause.code, cause) : undefined;
    if (words !== undefined) return words;
  }
  return undefined;
}

function wordsOf(code: string, error: Error & { port?: unknown; path?: unknown }): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `port ${error.port} is taken: stop what listens there, or choose another by PORT or METRICS_PORT`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return "HOST is no address of this machine: 127.0.0.1 is this machine alone, 0.0.0.0 all of its addresses";
    case "EACCES":
    case "EPERM":
      if (error.port !== undefined)
        return `this user may not listen on port ${error.port}: choose one above 1023 by PORT`;
      return unwritable(code, error.path);
    case "EROFS":
    case "ENOTDIR":
    case "EEXIST":
      return unwritable(code, error.path);
    case "ENOSPC":
      return "the disk is full: make room, then start again";
    case "ECONNREFUSED":
    case "ETIMEDOUT":
      return `the database of DATABASE_URL does not answer (${code}): start it, or correct the address`;
    case "28P01":
    case "28000":
      return `the database refused us: ${error.message}; correct the user or password in DATABASE_URL`;
    case "3D000":
      return `${error.message}: create it, or correct DATABASE_URL`;
    default:
      return undefined;
  }
}

function unwritable(code: string, path: unknown): string {
  return `${path ?? "a file"} cannot be written (${code}): give this user the right to, or choose another folder by DATA_DIR`;
}
