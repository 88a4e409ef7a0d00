import { type Bot, botRoutes, type ScriptState, type SeenOrigin } from "@intermission/operator-api/bots";
import { useQuery } from "@tanstack/react-query";
import { answerOf, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { loadWords } from "../words/catalog.ts";
import { useFormats } from "../words/formats.ts";
import type { Language } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";

const inAppWords = loadWords("inApp") satisfies Record<
  Language,
  { readonly states: Record<Exclude<ScriptState, "working">, string> }
>;

/** The developer who adds the script to a page waits here for its first request. */
const WATCHED_EVERY_MS = 3000;

/** The script for the publisher's own mini-app, and whether it reaches the service from the origins that have it. */
export function InAppPanel({ bot }: { bot: Bot }) {
  const words = useWords(inAppWords);
  const { botId } = bot;
  const seen = useQuery({
    ...answerOf(botRoutes.listAppOrigins, { params: { botId } }),
    refetchInterval: WATCHED_EVERY_MS,
  });
  return (
    <section className="panel narrow" aria-labelledby="in-app">
      <h2 id="in-app">{words.title}</h2>
      <p className="secondary">{words.about}</p>
      <AnswerView query={seen} rows={2}>
        {({ scriptUrl, pinned, origins, asOf }) => (
          <>
            {origins.length === 0 ? (
              <p>{words.none}</p>
            ) : (
              <ul className="origins">
                {origins.map((one) => (
                  <li key={one.origin}>
                    <Origin bot={bot} seen={one} asOf={asOf} />
                  </li>
                ))}
              </ul>
            )}
            <Snippet botId={botId} scriptUrl={scriptUrl} />
            {pinned && (
              <details>
                <summary>{words.pinned}</summary>
                <p className="secondary">{words.pinnedAbout}</p>
                <CopyButton
                  value={`<script src="${pinned.url}" integrity="${pinned.integrity}" crossorigin="anonymous"></script>`}
                />
              </details>
            )}
          </>
        )}
      </AnswerView>
    </section>
  );
}

function Snippet({ botId, scriptUrl }: { botId: string; scriptUrl: string }) {
  const words = useWords(inAppWords);
  const lines = [
    `<script src="${scriptUrl}"></script>`,
    "<script>",
    `  const ads = Intermission.init({ botId: "${botId}" });`,
    "  async function onTap() {",
    "    const { outcome } = await ads.show();",
    "    return outcome;",
    "  }",
    "</script>",
  ].join("\n");
  return (
    <>
      <h3>{words.snippet}</h3>
      <textarea className="page-lines" aria-label={words.snippet} rows={8} readOnly value={lines} />
      <p className="row">
        <CopyButton value={lines} />
      </p>
    </>
  );
}

function Origin({ bot, seen, asOf }: { bot: Bot; seen: SeenOrigin; asOf: Date }) {
  const words = useWords(inAppWords);
  const { ago } = useFormats();
  const { origin, isRegistered, seenAt, version, state } = seen;
  const isWorking = isRegistered && state === "working";
  return (
    <>
      <p className="row">
        <code>{origin}</code>
        {isWorking && <span className="pill pill-good">{words.working}</span>}
        {!isWorking && (
          <span className={seenAt ? "pill pill-bad" : "pill"}>{seenAt ? words.failing : words.unseen}</span>
        )}
      </p>
      <p className="secondary">
        {seenAt === null
          ? words.unseenAdvice
          : words.seen({ ago: ago(seenAt, asOf.getTime()), version: version ?? "–" })}
      </p>
      {state !== null && state !== "working" && (
        <p className="late">
          {isRegistered && state === "not-registered" ? words.sinceRegistered : words.states[state]}
        </p>
      )}
      {!isRegistered && <Register bot={bot} origin={origin} />}
    </>
  );
}

function Register({ bot: { botId, appOrigins, updatedAt }, origin }: { bot: Bot; origin: string }) {
  const words = useWords(inAppWords);
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const update = useChange(botRoutes.updateBot);
  if (!may("updateBot")) return null;
  const onRegister = () =>
    update.mutate(
      {
        params: { botId },
        query: { expectedUpdatedAt: updatedAt },
        body: { appOrigins: [...appOrigins, origin] },
      },
      { onError, onSuccess: () => notice({ text: words.registered(origin) }) },
    );
  return (
    <Button isBusy={update.isPending} aria-label={words.registerOf(origin)} onClick={onRegister}>
      {words.register}
    </Button>
  );
}
