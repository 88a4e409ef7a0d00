import type { Command } from "commander";
import { type CommandContext, callForRow, withExamples } from "../operator/command-context.ts";
import { telegramIdOption } from "../operator/parse-option.ts";
import { recordOf } from "../operator/show.ts";

export function tokenCommands(program: Command, context: CommandContext): void {
  const tokens = program
    .command("tokens")
    .description("API tokens of bots. To rotate: create, give it to the publisher, activate, then revoke the old one");

  ofBot(
    tokens
      .command("create")
      .description("make a token, shown only once; if another is active, it becomes the next one"),
    ["tokens create --bot-id 7000000001"],
  ).action(async ({ botId }: { botId: string }) => {
    const created = await callForRow(context, { method: "POST", path: `/bots/${botId}/tokens` });
    const next = created.state === "next" ? `\n${afterNext(botId, created.tokenId)}` : "";
    context.print(created, () => `${recordOf(created)}\n\nKeep the token now: it is not shown again.${next}`);
  });

  ofBot(
    tokens.command("activate").description("sign with the next token; the old one stays valid for at most seven days"),
    ["tokens activate tok_8fJ2kLm4Qr9T --bot-id 7000000001"],
  )
    .argument("<token-id>", "as shown by bots show")
    .action(async (tokenId: string, { botId }: { botId: string }) => {
      const path = `/bots/${botId}/tokens/${encodeURIComponent(tokenId)}/activate`;
      const activated = await callForRow(context, { method: "POST", path });
      context.print(activated, () => recordOf(activated));
    });

  ofBot(tokens.command("revoke").description("make a token invalid"), [
    "tokens revoke tok_8fJ2kLm4Qr9T --bot-id 7000000001",
  ])
    .argument("<token-id>", "as shown by bots show")
    .action(async (tokenId: string, { botId }: { botId: string }) => {
      const path = `/bots/${botId}/tokens/${encodeURIComponent(tokenId)}/revoke`;
      const revoked = await callForRow(context, { method: "POST", path });
      const { isLast, ...shown } = revoked;
      const warning = `\n\nIt was the last one: the bot's events are held until it has another.\n  $ pnpm ads tokens create --bot-id ${botId}`;
      context.print(revoked, () => `${recordOf(shown)}${isLast === true ? warning : ""}`);
    });
}

function ofBot(command: Command, examples: readonly string[]): Command {
  return withExamples(command, examples).requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption);
}

function afterNext(botId: string, tokenId: unknown): string {
  return `Once the publisher has it: pnpm ads tokens activate ${tokenId} --bot-id ${botId}`;
}
