import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/word-table.ts";
import type { AddedBot } from "./new-bot-form.tsx";
import { newBotWords } from "./new-bot-words.ts";
import { useEndpointTest } from "./use-endpoint-test.ts";
import { botWords } from "./words.ts";
import "./bots.css";

const NewBotForm = lazy(async () => ({ default: (await import("./new-bot-form.tsx")).NewBotForm }));

/** Adds a bot, and shows its first token once, as the lines that its program needs. */
export function NewBotScreen() {
  const { add } = useWords(botWords);
  const [bot, setBot] = useState<AddedBot>();
  return (
    <Page title={add}>
      {bot === undefined ? (
        <Suspense fallback={<Skeleton rows={4} />}>
          <NewBotForm add={add} onAdded={setBot} />
        </Suspense>
      ) : (
        <Added bot={bot} />
      )}
    </Page>
  );
}

function Added({ bot }: { bot: AddedBot }) {
  const words = useWords(newBotWords);
  const { test } = useWords(botWords);
  const sendTest = useEndpointTest(bot.botId);
  const heading = useRef<HTMLHeadingElement>(null);
  // The form, which had the focus, is gone.
  useEffect(() => heading.current?.focus(), []);
  const lines = [`AD_SERVICE_URL=${location.origin}`, `AD_API_TOKEN=${bot.token}`, `BOT_ID=${bot.botId}`].join("\n");
  return (
    <section className="panel narrow" aria-labelledby="added">
      <h2 id="added" ref={heading} tabIndex={-1}>
        {words.added(bot.name)}
      </h2>
      <h3>{words.lines}</h3>
      <p>{words.shownOnce}</p>
      <pre className="paste">{lines}</pre>
      <p className="row">
        <CopyButton value={lines} />
      </p>
      <p>{bot.webhookUrl === null ? words.noAddress : words.testText(bot.webhookUrl)}</p>
      <p className="row">
        {bot.webhookUrl !== null && (
          <Button isBusy={sendTest.isPending} onClick={sendTest.run}>
            {test}
          </Button>
        )}
        <Link to="/bots/$botId" params={{ botId: bot.botId }} className="button button-plain">
          {words.open}
        </Link>
      </p>
    </section>
  );
}
