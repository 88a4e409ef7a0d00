import { readFileSync, statSync } from "node:fs";

/** A token or a key has a few hundred bytes; a longer file is another one. */
const MAX_BYTES = 64 * 1024;

interface EnvironmentWithSecrets {
  readonly environment: NodeJS.ProcessEnv;
  /** By the name of the secret; each text begins with the variable's name. */
  readonly faults: Map<string, string>;
}

/**
 * Reads secrets from the files that `NAME_FILE` names, as container platforms mount them, and adds them as `NAME`. Blanks,
 * line breaks and a byte order mark around the text of a file are not a part of the secret. A fault never contains a secret.
 */
export function readSecretFiles(environment: NodeJS.ProcessEnv, secrets: readonly string[]): EnvironmentWithSecrets {
  const read: NodeJS.ProcessEnv = { ...environment };
  const faults = new Map<string, string>();
  for (const name of secrets) {
    const path = environment[`${name}_FILE`];
    if (path === undefined) continue;
    const secret =
      environment[name] === undefined
        ? secretIn(path)
        : { fault: `and ${name} are both set: set one of them, since they may differ` };
    if ("fault" in secret) faults.set(name, `${name}_FILE ${secret.fault}`);
    else read[name] = secret.text;
  }
  return { environment: read, faults };
}

function secretIn(path: string): { text: string } | { fault: string } {
  try {
    const file = statSync(path);
    if (!file.isFile()) return { fault: `must name a file, and ${path} is none` };
    if (file.size > MAX_BYTES) return { fault: `names ${path}, which has more than ${MAX_BYTES / 1024} kB` };
    const bytes = readFileSync(path);
    const [first, second] = bytes;
    // As the shell of Windows writes its output into a file.
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
      return { fault: `names ${path}, which is in UTF-16: save it as UTF-8` };
    const text = bytes.toString().trim();
    return text === "" ? { fault: `names ${path}, which is empty` } : { text };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return {
      fault: `names ${path}, which cannot be read (${code}): ${path.startsWith("~") ? "only a shell replaces ~, so write the path in full" : "mount the secret, or let this user read it"}`,
    };
  }
}
