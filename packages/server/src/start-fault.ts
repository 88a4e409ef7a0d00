/** A fault at the start that the operator can repair: printed in one line with the next step, without a stack. */
export class StartFault extends Error {
  override readonly name = "StartFault";
  readonly isForOperator = true;
}

interface SystemError extends Error {
  readonly code?: unknown;
  readonly path?: unknown;
  readonly port?: unknown;
  readonly address?: unknown;
  readonly syscall?: unknown;
}

/** The message for the operator, or undefined for a bug, whose stack should be printed. */
export function startFaultOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("isForOperator" in cause && cause.isForOperator === true) return cause.message;
    const words = wordsOf(cause);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Ends a server that could not start: a fault for the operator is one line, a bug keeps its stack. */
export function exitAfterStartFault(server: string, error: unknown): never {
  const fault = startFaultOf(error);
  console.error(fault === undefined ? error : `${server} could not start: ${fault}`);
  process.exit(1);
}

function wordsOf(error: SystemError): string | undefined {
  const { code, port, path } = error;
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is taken: stop what listens there, or choose another by PORT or METRICS_PORT`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "HOST or METRICS_HOST is not an address of this machine: use 127.0.0.1 for local access only, 0.0.0.0 for all addresses";
    case "EACCES":
    case "EPERM":
      if (port !== undefined)
        return `this user may not listen on port ${port}: choose one above 1023 by PORT or METRICS_PORT`;
      return `${placeOf(path)} cannot be written (${code}): it belongs to another user, or its mode forbids it; ${giveOrChoose}`;
    case "EROFS":
      return `${placeOf(path)} cannot be written (${code}): its file system is read-only; ${giveOrChoose}`;
    case "ENOENT":
      // Node reports this when a folder cannot be made on a read-only file system.
      if (error.syscall !== "mkdir") return undefined;
      return `${placeOf(path)} cannot be made (${code}): a link in its path leads to nothing, or its file system is read-only or refuses it; ${giveOrChoose}`;
    case "ENOTDIR":
    case "EEXIST":
    case "EISDIR":
    case "ELOOP":
    case "ENAMETOOLONG":
      return `${placeOf(path)} cannot be used (${code}): it must be a folder or not exist; ${giveOrChoose}`;
    case "ENOSPC":
    case "EDQUOT":
      return `the disk of ${placeOf(path)} is full (${code}): free some space, or remove files where \`df -i\` shows that no more can be made, then start again`;
    case "EMFILE":
    case "ENFILE":
      return `too many files are open (${code}): raise the limit (ulimit -n), then start again`;
    default:
      return undefined;
  }
}

const giveOrChoose = "give this user the right to write there, or choose another folder by DATA_DIR or MEDIA_DIR";

function placeOf(path: unknown): string {
  return typeof path === "string" ? path : "the data folder";
}
