import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { CallError } from "../operator/call-operator.ts";
import type { LocalText } from "../operator/local-text.ts";
import { answerOf, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { faultsOf } from "../ui/typed-faults.ts";
import { useWords } from "../words/word-table.ts";
import { testersWords } from "./testers-words.ts";

/** The testers of a bot: for who may change it, each can be removed, and another one added. */
export function TestersPanel({ bot }: { bot: Bot }) {
  const words = useWords(testersWords);
  const may = useMay();
  const notice = useNotice();
  const { change, add, isBusy, fault } = useTesters(bot);
  const onAdd = (id: string) => add(id, () => notice({ text: words.added(id) }));
  const onRemove = (id: string) =>
    change(
      (testers) => testers.filter((tester) => tester !== id),
      () => notice({ text: words.removed(id), onUndo: () => void onAdd(id) }),
    );
  return (
    <section className="panel narrow" aria-labelledby="testers">
      <h2 id="testers">{words.testers}</h2>
      <p className="secondary">{words.about}</p>
      {bot.testers.length === 0 ? (
        <p>{words.none}</p>
      ) : (
        <ul className="testers">
          {bot.testers.map((id) => (
            <li key={id} className="row">
              <code>{id}</code>
              {may("updateBot") && (
                <Button look="quiet" isBusy={isBusy} aria-label={words.removeOf(id)} onClick={() => onRemove(id)}>
                  {words.remove}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {may("updateBot") && <AddTester isBusy={isBusy} fault={fault} onAdd={onAdd} />}
    </section>
  );
}

interface AddTesterProps {
  isBusy: boolean;
  fault: LocalText | undefined;
  /** Resolves to whether it was added. */
  onAdd: (id: string) => Promise<boolean>;
}

function AddTester({ isBusy, fault, onAdd }: AddTesterProps) {
  const words = useWords(testersWords);
  const [typed, setTyped] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy && (await onAdd(typed.trim()))) setTyped("");
  };
  return (
    <form className="add-tester" onSubmit={(event) => void submit(event)} noValidate>
      <Field label={words.id} fault={fault}>
        {(control) => (
          <input {...control} inputMode="numeric" value={typed} onChange={(event) => setTyped(event.target.value)} />
        )}
      </Field>
      <Button type="submit" isBusy={isBusy}>
        {words.add}
      </Button>
    </form>
  );
}

type Edit = (testers: readonly string[]) => string[];

/** A list that another person changes between its reading and its change is read again. */
const MAX_TRIES = 5;

/**
 * Adds and removes testers. The API takes the whole list, so changes run one after another, and each reads the current list
 * first: a tester that another person adds meanwhile stays. If the list cannot be read, nothing changes.
 */
function useTesters(bot: Bot) {
  const queries = useQueryClient();
  const onFailed = useFailedNotice();
  const update = useChange(botRoutes.updateBot);
  const [fault, setFault] = useState<LocalText>();
  const [waiting, setWaiting] = useState(0);
  const latest = useRef<Promise<unknown>>(Promise.resolve());
  const params = { botId: bot.botId };
  const read = () => queries.fetchQuery({ ...answerOf(botRoutes.showBot, { params }), staleTime: 0, retry: false });
  const make = async (edit: Edit, onDone: () => void, tries = 1): Promise<boolean> => {
    try {
      const stored = await read();
      const body = { testers: edit(stored.testers) };
      const faults = await faultsOf(botRoutes.updateBot.body, body);
      setFault(faults?.testers);
      if (faults !== undefined) return false;
      await update.mutateAsync({ params, query: { expectedUpdatedAt: stored.updatedAt }, body });
      onDone();
      return true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const refusal = error instanceof CallError ? error : undefined;
      if (refusal?.code === "BOT_CHANGED" && tries < MAX_TRIES) return make(edit, onDone, tries + 1);
      setFault(refusal && Object.entries(refusal.fields).find(([path]) => path.startsWith("testers"))?.[1]);
      onFailed(error);
      return false;
    }
  };
  /** Resolves to whether it was made. An Undo may be pressed while another change is under way: it waits for it. */
  const change = (edit: Edit, onDone: () => void): Promise<boolean> => {
    setWaiting((count) => count + 1);
    const made = latest.current.then(() => make(edit, onDone)).finally(() => setWaiting((count) => count - 1));
    latest.current = made.catch(() => undefined);
    return made;
  };
  const add = (id: string, onDone: () => void) => change((testers) => [...new Set([...testers, id])], onDone);
  return { change, add, isBusy: waiting > 0, fault };
}
