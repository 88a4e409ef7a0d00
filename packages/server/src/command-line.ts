import { existsSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { type Command, CommanderError } from "commander";
import { nameFlags } from "./command-options.ts";
import { type ClaimedFolder, claimDataFolder, socketPathOf } from "./data-folder.ts";
import { stringifyExactly } from "./exact-json.ts";
import { openPrinter } from "./print-answer.ts";
import { CONFIRMATION_NEEDED } from "./refuse.ts";
import { startFaultOf } from "./start-fault.ts";

/** The fault of one field of a request. */
export interface FieldFault {
  field: string;
  message: string;
}

/** A refusal, with the server's own message. */
export class OperatorRefusal extends Error {
  override readonly name = "OperatorRefusal";
  readonly status: number;
  readonly code: string;
  /** The message by field, if the server listed the fields. */
  readonly faults: readonly FieldFault[];
  constructor(status: number, code: string, message: string, faults: readonly FieldFault[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.faults = faults;
  }
}

/** The command line cannot reach a server or a store. The message contains the next step. */
export class NotReachable extends Error {
  override readonly name = "NotReachable";
}

const exitCodes = { done: 0, refused: 1, wrongUsage: 2, notReachable: 3, notWritten: 4 };

export const exitCodesHelp =
  "Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no server or store within reach, 4 done, but the answer could not be written.";

export interface CommandContext<Client> {
  /** Connects on the first call of a command. */
  client(): Promise<Client>;
  /** Prints text for people, or with `--json` the answer itself for programs. */
  print(answer: unknown, asText: () => string): void;
  /** Writes an answer that is text as it comes, for people and programs alike. */
  copy(parts: AsyncIterable<string>): Promise<void>;
  /** Whether the caller is a program: it gets everything in one answer, without a prompt. */
  isJson(): boolean;
}

/** Gives a program what every command line here has: `--json`, its help, and errors that are thrown instead of exits. */
export function shareSettings(program: Command): Command {
  return program
    .option("--json", "print the answer as JSON, for programs")
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("See it with --help.")
    .exitOverride();
}

/**
 * Runs one command and resolves to the exit code. `open` connects to a server or a store; it is called once, by the first
 * command that needs it. What failed and the next step are printed to standard error.
 */
export async function runCommandLine<Client extends { close(): Promise<void> }>(
  program: Command,
  words: readonly string[],
  {
    open,
    addCommands,
  }: { open: () => Promise<Client>; addCommands: (program: Command, context: CommandContext<Client>) => void },
): Promise<number> {
  shareSettings(program);
  let client: Client | undefined;
  let running: Command | undefined;
  program.hook("preAction", (_program, command) => {
    running = command;
  });
  const isJson = () => program.opts().json === true;
  const printer = openPrinter(process.stdout);
  addCommands(program, {
    async client() {
      client ??= await open();
      return client;
    },
    print: (answer, asText) => printer.print(isJson() ? stringifyExactly(answer) : asText()),
    copy: (parts) => printer.copy(parts),
    isJson,
  });
  try {
    await program.parseAsync(words, { from: "user" });
    const fault = await printer.fault();
    if (fault === undefined) return exitCodes.done;
    console.error(
      `${program.name()}: the command was done, but its answer could not be written to standard output (${fault}): what was shown only once, such as a token, must be made again`,
    );
    return exitCodes.notWritten;
  } catch (error) {
    return tell(program.name(), error, running);
  } finally {
    await client?.close();
  }
}

/** Reads a command line's configuration, once. What its environment sets and nothing reads is said on standard error. */
export function configurationOf<Config extends { readonly mistypedSettings: readonly string[] }>(
  program: Command,
  read: () => Config,
): () => Config {
  let config: Config | undefined;
  return () => {
    if (config === undefined) {
      config = read();
      for (const sentence of config.mistypedSettings) console.error(`${program.name()}: ${sentence}`);
    }
    return config;
  };
}

function tell(name: string, error: unknown, command: Command | undefined): number {
  // Commander has printed its own errors already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  if (error instanceof OperatorRefusal) {
    const next = error.code === CONFIRMATION_NEEDED ? "\nNothing was changed. If this is meant, add --yes." : "";
    console.error(`${name}: ${nameFlags(error, command)}${next}`);
    return exitCodes.refused;
  }
  if (error instanceof NotReachable) {
    console.error(`${name}: ${error.message}`);
    return exitCodes.notReachable;
  }
  const fault = startFaultOf(error);
  console.error(fault === undefined ? error : `${name}: ${fault}`);
  return fault === undefined ? exitCodes.refused : exitCodes.notReachable;
}

/** `add --name x …`: examples under the help of a command that was added to its program. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  let program = command;
  while (program.parent) program = program.parent;
  const lines = examples.map((example) => `  $ pnpm ${program.name()} ${example}`);
  return command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

const WAIT_FOR_OWNER_MS = 60_000;
const SAY_AFTER_MS = 3000;

/**
 * Claims a data folder, or finds the server that owns it. Another command that owns it does not answer and releases it
 * soon. The check precedes the command itself, so that no change is ever sent twice.
 */
export async function claimOrFindServer(
  dataFolder: string,
  { waitMs = WAIT_FOR_OWNER_MS, sayAfterMs = SAY_AFTER_MS } = {},
): Promise<ClaimedFolder | "served"> {
  const giveUpAt = Date.now() + waitMs;
  let sayAt = Date.now() + sayAfterMs;
  while (Date.now() < giveUpAt) {
    const claim = await claimDataFolder(dataFolder);
    if (claim.outcome === "claimed") return claim;
    if (await isServed(socketPathOf(dataFolder), Math.min(sayAt, giveUpAt) - Date.now())) return "served";
    if (Date.now() >= sayAt) {
      sayAt = Number.POSITIVE_INFINITY;
      console.error(`${dataFolder} is in use by a process that does not answer yet; trying again for a minute`);
    }
    // Its owner has not opened the socket yet, or is closing it.
    await wait(50);
  }
  const socket = socketPathOf(dataFolder);
  throw new NotReachable(
    existsSync(socket)
      ? `${dataFolder} is in use by a process that does not answer: stop it, or try again later`
      : `${dataFolder} is in use by a process whose socket was removed, ${socket}: start it again, which makes it anew`,
  );
}

function isServed(socketPath: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { socketPath, path: "/healthz", agent: false, timeout: Math.max(1, timeoutMs) };
    const question = request(options, (answer) => {
      answer.resume();
      resolve(true);
    });
    question.once("timeout", () => question.destroy());
    question.once("error", () => resolve(false));
    question.end();
  });
}
