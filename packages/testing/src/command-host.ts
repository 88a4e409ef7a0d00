import { pathToFileURL } from "node:url";

/**
 * The process that `startCommandHost` starts. Its first argument is the module of a command line. For each message it runs
 * this module again, with the arguments and the environment of the message; imported modules stay loaded.
 */
export interface HostedCommand {
  readonly id: number;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface HostedEnd {
  readonly id: number;
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const [node = "", , script = ""] = process.argv;
const environment = { ...process.env };
let lastOne: Promise<void> = Promise.resolve();

process.on("message", (command: HostedCommand) => {
  lastOne = lastOne.then(async () => void process.send?.(await run(command)));
});
process.on("disconnect", () => process.exit());

async function run({ id, words, env }: HostedCommand): Promise<HostedEnd> {
  const written = { out: "", err: "" };
  process.env = { ...environment, ...env };
  process.argv = [node, script, ...words];
  process.exitCode = undefined;
  process.stdout.write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    written.out += chunk;
    const whenWritten = more.at(-1);
    if (typeof whenWritten === "function") whenWritten();
    return true;
  };
  process.stderr.write = (chunk) => {
    written.err += chunk;
    return true;
  };
  try {
    // A new query in the URL makes the module run again.
    await import(`${pathToFileURL(script)}?command=${id}`);
  } catch (error) {
    return { id, code: 1, ...written, err: `${written.err}${error instanceof Error ? error.stack : error}` };
  }
  return { id, code: Number(process.exitCode ?? 0), ...written };
}
