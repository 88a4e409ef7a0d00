import { type Columns, textOf } from "@intermission/server/command-tables";
import { list, subject, verb, type WireAnswer } from "@intermission/server/route-commands";

export const tokenColumns: Columns<WireAnswer<"showBot">["tokens"][number]> = {
  TOKEN: "tokenId",
  STATE: "state",
  CREATED: "createdAt",
  "LAST USED": ({ lastUsedAt }) => lastUsedAt ?? "never",
  "WORKS UNTIL": ({ revokedAt, revokeAt }) => revokedAt ?? revokeAt,
};

const ofBot = { options: { botId: "Telegram id of the bot" } } as const;

export const tokenCommands = subject(
  "tokens",
  "API tokens of bots. To rotate: create, give it to the publisher, activate, then revoke the old one",
  {
    list: list("showBot", "tokens", {
      ...ofBot,
      description: "a bot's tokens, and when a request last used each: to the minute",
      examples: ["--bot-id 7000000001"],
      columns: tokenColumns,
    }),
    create: verb("createToken", {
      ...ofBot,
      description: "make a token, shown only once; if another is active, it becomes the next one",
      examples: ["--bot-id 7000000001"],
      note: ({ botId, tokenId, state }) =>
        `Keep the token now: it is not shown again.${
          state === "next"
            ? `\nOnce the publisher has it: pnpm ads tokens activate ${tokenId} --bot-id ${botId}\nWhether a request has used it: pnpm ads tokens list --bot-id ${botId}`
            : ""
        }`,
    }),
    activate: verb("activateToken", {
      ...ofBot,
      description: "sign with the next token; the old one stays valid for at most seven days",
      examples: ["tok_8fJ2kLm4Qr9T --bot-id 7000000001"],
      shown: ({ retiring: _, ...token }) => token,
      note: ({ botId, retiring }) =>
        retiring === null
          ? undefined
          : `The one before, ${retiring.tokenId}, works until ${textOf(retiring.revokeAt)}. It ${
              retiring.lastUsedAt === null ? "was never used" : `was last used at ${textOf(retiring.lastUsedAt)}`
            }; see whether it still is with: tokens list --bot-id ${botId}`,
    }),
    revoke: verb("revokeToken", {
      ...ofBot,
      description: "make a token invalid",
      examples: ["tok_8fJ2kLm4Qr9T --bot-id 7000000001"],
      shown: ({ isLast: _, lastUsedAt: __, ...token }) => token,
      note: ({ botId, isLast, lastUsedAt }) => {
        const notes = [
          ...(lastUsedAt === null
            ? []
            : [`It was last used at ${textOf(lastUsedAt)}: what still sends it gets 401 now.`]),
          ...(isLast
            ? [
                `It was the last one: the bot's events are held until it has another.\n  $ pnpm ads tokens create --bot-id ${botId}`,
              ]
            : []),
        ];
        return notes.length === 0 ? undefined : notes.join("\n\n");
      },
    }),
  },
);
