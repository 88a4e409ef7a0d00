import type { Command } from "commander";
import { type CommandContext, NotReachable, withExamples } from "./command-line.ts";
import { telegramIdOption } from "./command-options.ts";
import { userNamesFrom } from "./logged-users.ts";

interface LogIdContext extends Pick<CommandContext<never>, "print"> {
  /** The secrets of the server's hashes, of this machine's settings: the present one first, then those before it. */
  secrets(): readonly (Uint8Array | string | undefined)[];
}

/** `log-id`: the hash by which the log names a user. It asks no server and no store. */
export function logIdCommand(program: Command, { secrets, print }: LogIdContext): void {
  withExamples(
    program.command("log-id").description("the hash by which the log names a user, for a search in the log"),
    ["log-id 100000001", "log-id 100000001 --json"],
  )
    .argument("<user-id>", "Telegram id of the user", telegramIdOption)
    .action((userId: string) => {
      const [logId, ...previous] = secrets()
        .filter((secret) => secret !== undefined)
        .map((secret) => userNamesFrom(secret)(userId));
      if (logId === undefined)
        throw new NotReachable(
          "ENCRYPTION_KEY is missing: set it to the server's key, from which the hashes in its log derive",
        );
      print({ userId, logId, previous }, () =>
        [logId, ...previous.map((hash) => `${hash} (with the previous key)`)].join("\n"),
      );
    });
}
