import { readSecretFiles } from "@intermission/server/secret-files";

/**
 * The secret of the environment variable `name`, or of the file that `name_FILE` names, as Docker and Kubernetes mount it,
 * without the line break at the file's end; "" without both. Throws a TypeError, which names the variable and the file and
 * contains no secret, if the file cannot be read, is empty or is larger than 64 kB, or if both are set.
 */
export function readSecret(name: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  const file = `${name}_FILE`;
  // `NAME=` in an env file means that the variable is not set.
  const { environment, faults } = readSecretFiles({ [name]: env[name] || undefined, [file]: env[file] || undefined }, [
    name,
  ]);
  const fault = faults.get(name);
  if (fault !== undefined) throw new TypeError(fault);
  return environment[name] ?? "";
}
