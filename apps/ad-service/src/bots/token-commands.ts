import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { telegramIdOption } from "@intermission/server/command-options";
import { type Row, recordOf, row, rowsOf, tableOf, textOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export const tokenColumns = {
  TOKEN: (token: Row) => token.tokenId,
  STATE: (token: Row) => token.state,
  CREATED: (token: Row) => token.createdAt,
  "LAST USED": (token: Row) => token.lastUsedAt ?? "never",
  "WORKS UNTIL": (token: Row) => token.revokedAt ?? token.revokeAt,
};

export function tokenCommands(program: Command, context: CommandContext): void {
  const tokens = program
    .command("tokens")
    .description("API tokens of bots. To rotate: create, give it to the publisher, activate, then revoke the old one");

  ofBot(tokens.command("list").description("a bot's tokens, and when a request last used each: to the minute"), [
    "tokens list --bot-id 7000000001",
  ]).action(async ({ botId }: { botId: string }) => {
    const listed = rowsOf(await callForRow(context, operatorRequest("showBot", { params: { botId } })), "tokens");
    context.print(listed, () => tableOf(listed, tokenColumns));
  });

  ofBot(
    tokens
      .command("create")
      .description("make a token, shown only once; if another is active, it becomes the next one"),
    ["tokens create --bot-id 7000000001"],
  ).action(async ({ botId }: { botId: string }) => {
    const created = await callForRow(context, operatorRequest("createToken", { params: { botId } }));
    const next = created.state === "next" ? `\n${afterNext(botId, created.tokenId)}` : "";
    context.print(created, () => `${recordOf(created)}\n\nKeep the token now: it is not shown again.${next}`);
  });

  ofBot(
    tokens.command("activate").description("sign with the next token; the old one stays valid for at most seven days"),
    ["tokens activate tok_8fJ2kLm4Qr9T --bot-id 7000000001"],
  )
    .argument("<token-id>", "as shown by bots show")
    .action(async (tokenId: string, { botId }: { botId: string }) => {
      const activated = await callForRow(context, operatorRequest("activateToken", { params: { botId, tokenId } }));
      const { retiring, ...shown } = activated;
      context.print(
        activated,
        () => `${recordOf(shown)}${retiring === null ? "" : `\n\n${afterActivation(botId, retiring)}`}`,
      );
    });

  ofBot(tokens.command("revoke").description("make a token invalid"), [
    "tokens revoke tok_8fJ2kLm4Qr9T --bot-id 7000000001",
  ])
    .argument("<token-id>", "as shown by bots show")
    .action(async (tokenId: string, { botId }: { botId: string }) => {
      const revoked = await callForRow(context, operatorRequest("revokeToken", { params: { botId, tokenId } }));
      const { isLast, lastUsedAt, ...shown } = revoked;
      const use =
        lastUsedAt === null ? "" : `\n\nIt was last used at ${textOf(lastUsedAt)}: what still sends it gets 401 now.`;
      const warning = `\n\nIt was the last one: the bot's events are held until it has another.\n  $ pnpm ads tokens create --bot-id ${botId}`;
      context.print(revoked, () => `${recordOf(shown)}${use}${isLast === true ? warning : ""}`);
    });
}

function ofBot(command: Command, examples: readonly string[]): Command {
  return withExamples(command, examples).requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption);
}

/** `retiring`: the token before, as the answer has it. */
function afterActivation(botId: string, retiring: unknown): string {
  const { tokenId, revokeAt, lastUsedAt } = row.parse(retiring);
  const use = lastUsedAt === null ? "was never used" : `was last used at ${textOf(lastUsedAt)}`;
  return `The one before, ${tokenId}, works until ${textOf(revokeAt)}. It ${use}; see whether it still is with: tokens list --bot-id ${botId}`;
}

function afterNext(botId: string, tokenId: unknown): string {
  const isUsed = `pnpm ads tokens list --bot-id ${botId}`;
  return `Once the publisher has it: pnpm ads tokens activate ${tokenId} --bot-id ${botId}\nWhether a request has used it: ${isUsed}`;
}
