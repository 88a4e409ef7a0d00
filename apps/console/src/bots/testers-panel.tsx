import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { answerOf } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { bySetting, faultsOfChanges } from "./bot-form-values.ts";
import { testersWords } from "./testers-words.ts";

/** The testers of a bot: for who may change it, each can be removed, and another one added. */
export function TestersPanel({ bot }: { bot: Bot }) {
  const words = useWords(testersWords);
  const may = useMay();
  const notice = useNotice();
  const { change, add, isPending, fault } = useTesters(bot);
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
                <Button look="quiet" isBusy={isPending} aria-label={words.removeOf(id)} onClick={() => onRemove(id)}>
                  {words.remove}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {may("updateBot") && <AddTester isBusy={isPending} fault={fault} onAdd={onAdd} />}
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

/** Changes of the list of testers, which is sent whole. */
function useTesters(bot: Bot) {
  const queries = useQueryClient();
  const update = useConfirmedChange(botRoutes.updateBot);
  const [fault, setFault] = useState<LocalText>();
  const params = { botId: bot.botId };
  const change = async (edit: (testers: readonly string[]) => string[], onDone: () => void) => {
    // Read again, the list has what another person has changed meanwhile. Without an answer, the change fails, too, and says why.
    const read = queries.fetchQuery({ ...answerOf(botRoutes.showBot, { params }), staleTime: 0, retry: false });
    const { testers } = await read.catch(() => bot);
    const body = { testers: edit(testers) };
    const faults = await faultsOfChanges(body);
    setFault(faults?.testers);
    if (faults !== undefined) return false;
    return (await update.run({ params, body }, onDone)) !== undefined;
  };
  const add = (id: string, onDone: () => void) => change((testers) => [...new Set([...testers, id])], onDone);
  return { change, add, isPending: update.isPending, fault: fault ?? bySetting(update.faults).testers };
}
