import { tokenRoutes } from "@intermission/operator-api/bot-tokens";
import type { Bot, TokenEntry } from "@intermission/operator-api/bots";
import { useState } from "react";
import { useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { ShownOnceDialog } from "../ui/shown-once-dialog.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { RevokeDialog } from "./revoke-dialog.tsx";
import { LastUse, UseOfNext, UseOfOld } from "./token-use.tsx";
import { tokensWords } from "./tokens-words.ts";

type BotWithTokens = Bot & { tokens: readonly TokenEntry[] };

/** The API tokens of a bot, and the way from one to the next: for who may, with the button of each step. */
export function TokensPanel({ bot }: { bot: BotWithTokens }) {
  const words = useWords(tokensWords);
  const { number } = useFormats();
  const valid = bot.tokens.filter(({ state }) => state !== "revoked");
  const revoked = bot.tokens.filter(({ state }) => state === "revoked");
  return (
    <section className="panel narrow" aria-labelledby="tokens">
      <header className="panel-head">
        <h2 id="tokens">{words.tokens}</h2>
        <NewToken bot={bot} />
      </header>
      {valid.length === 0 && <p className="fault">{words.noToken}</p>}
      <TokenList bot={bot} tokens={valid} />
      <Guide tokens={valid} />
      {revoked.length > 0 && (
        <details>
          <summary>{words.revokedTokens(number(revoked.length))}</summary>
          <TokenList bot={bot} tokens={revoked} />
        </details>
      )}
    </section>
  );
}

function NewToken({ bot: { botId, tokens } }: { bot: BotWithTokens }) {
  const words = useWords(tokensWords);
  const may = useMay();
  const onFailed = useFailedNotice();
  // Its answer is a secret, which is kept by the window that shows it, and by nothing else.
  const create = useChange(tokenRoutes.createToken, { gcTime: 0 });
  const [made, setMade] = useState<{ token: string; isFirst: boolean }>();
  const isOffered = may("createToken") && !tokens.some(({ state }) => state === "next");
  const onNew = () =>
    create.mutate(
      { params: { botId } },
      {
        onError: onFailed,
        onSuccess: ({ token, state }) => setMade({ token, isFirst: state === "active" }),
        onSettled: () => create.reset(),
      },
    );
  return (
    <>
      {isOffered && (
        <span className="panel-actions">
          <Button isBusy={create.isPending} onClick={onNew}>
            {words.newToken}
          </Button>
        </span>
      )}
      {made !== undefined && (
        <ShownOnceDialog
          title={words.newToken}
          about={words.shownOnce}
          value={made.token}
          onClose={() => setMade(undefined)}
        >
          <p>{made.isFirst ? words.putFirst : words.putBeside}</p>
          <p className="secondary">{words.docs}</p>
        </ShownOnceDialog>
      )}
    </>
  );
}

/** Whether a bot is on its way from one token to the next. */
export function isRotating(tokens: readonly TokenEntry[]): boolean {
  return tokens.some(({ state }) => state === "next" || state === "retiring");
}

/** The way from one token of a bot to the next. */
const steps = ["make", "use", "revoke"] as const;

/** Shown while tokens are changed: which steps there are, which one is next, and what says that it may be made. */
function Guide({ tokens }: { tokens: readonly TokenEntry[] }) {
  const words = useWords(tokensWords);
  if (!isRotating(tokens)) return null;
  const step = tokens.some(({ state }) => state === "next") ? "use" : "revoke";
  return (
    <>
      <ol className="token-steps" aria-label={words.guide}>
        {steps.map((one) => (
          <li key={one} aria-current={one === step ? "step" : undefined}>
            {words.steps[one]}
          </li>
        ))}
      </ol>
      <Uses tokens={tokens} />
    </>
  );
}

/** Whether requests use the next token, and whether they still use the one that it replaces. */
function Uses({ tokens }: { tokens: readonly TokenEntry[] }) {
  const next = tokens.find(({ state }) => state === "next");
  const old = tokens.find(({ state }) => state === (next === undefined ? "retiring" : "active"));
  return (
    <>
      {next !== undefined && <UseOfNext token={next} />}
      {old !== undefined && <UseOfOld token={old} which="old" />}
    </>
  );
}

const looks = { next: "pill-late", active: "pill-good", retiring: "pill-late", revoked: "" } as const;

function TokenList({ bot, tokens }: { bot: BotWithTokens; tokens: readonly TokenEntry[] }) {
  const words = useWords(tokensWords);
  const { dateTime } = useFormats();
  const may = useMay();
  const [activated, setActivated] = useState<string>();
  const [revoked, setRevoked] = useState<TokenEntry>();
  return (
    <>
      <ul className="tokens">
        {tokens.map((token) => (
          <li key={token.tokenId} className="row">
            <code>{token.tokenId}</code>
            <span className={`pill ${looks[token.state]}`}>{words.state[token.state]}</span>
            <small>
              {token.state === "retiring" && token.revokeAt !== null
                ? words.until(dateTime(token.revokeAt))
                : words.since(dateTime(token.revokedAt ?? token.createdAt))}
            </small>
            <LastUse token={token} />
            {token.state === "next" && may("activateToken") && (
              <Button
                look="primary"
                aria-label={words.activateOf(token.tokenId)}
                onClick={() => setActivated(token.tokenId)}
              >
                {words.activate}
              </Button>
            )}
            {token.state !== "revoked" && may("revokeToken") && (
              <Button look="danger" aria-label={words.revokeOf(token.tokenId)} onClick={() => setRevoked(token)}>
                {words.revoke}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {activated !== undefined && (
        <ActivateDialog bot={bot} tokenId={activated} onClose={() => setActivated(undefined)} />
      )}
      {revoked !== undefined && <RevokeDialog bot={bot} token={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

/** Makes the next token the signing one, so that the one before it works for some days only. */
function ActivateDialog({ bot, tokenId, onClose }: { bot: BotWithTokens; tokenId: string; onClose: () => void }) {
  const words = useWords(tokensWords);
  const { dateTime } = useFormats();
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const activate = useChange(tokenRoutes.activateToken);
  const onActivate = () =>
    activate.mutate(
      { params: { botId: bot.botId, tokenId } },
      {
        onError: onFailed,
        onSuccess: ({ retiring }) => {
          notice({ text: retiring === null ? words.activatedFirst : words.activated(dateTime(retiring.revokeAt)) });
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={words.activateOf(tokenId)}
      submitText={words.activate}
      isBusy={activate.isPending}
      onSubmit={onActivate}
      onClose={onClose}
    >
      <p>{words.activateText}</p>
      <Uses tokens={bot.tokens} />
      <p className="secondary">{words.docs}</p>
    </FormDialog>
  );
}
