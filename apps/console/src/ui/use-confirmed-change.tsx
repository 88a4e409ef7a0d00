import type { AnswerOf, OperatorRoute } from "@intermission/operator-api/route";
import { type ReactNode, useState } from "react";
import { CallError, type RouteInput } from "../operator/call-operator.ts";
import type { LocalText } from "../operator/local-text.ts";
import { useChange } from "../operator/use-operator.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { useErrorText, useFailedNotice } from "./answer-view.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { useNotice } from "./notices.tsx";
import { uiWords } from "./words.ts";

export interface ConfirmedChange<Route extends OperatorRoute> {
  /** The answer; undefined if the request was refused, or waits for the reader's confirmation. */
  run: (input: RouteInput<Route>, onDone?: (answer: AnswerOf<Route>) => void) => Promise<AnswerOf<Route> | undefined>;
  isPending: boolean;
  /** The faults of fields of the last refusal, by the field's name. */
  faults: Readonly<Record<string, LocalText>>;
  /** Render it: the question about effects that are rarely meant. */
  dialog: ReactNode;
}

/** What is done, as the button that confirms it says: of routes that ask first. */
type ActionOf<Route extends OperatorRoute> = Route extends { query: { shape: { confirmed: unknown } } }
  ? [action: string, options?: ChangeOptions]
  : [action?: undefined, options?: ChangeOptions];

interface ChangeOptions {
  /** Of `useChange`. */
  gcTime?: 0;
  /** Called when a second person is asked for the approval: what was typed is stored as it is, and waits. */
  onWithheld?: () => void;
}

/** A change whose refusal is shown, and whose effects the server may ask about (`confirmed`) before it makes them. */
export function useConfirmedChange<Route extends OperatorRoute>(
  route: Route,
  ...[action, options]: ActionOf<Route>
): ConfirmedChange<Route> {
  const words = useWords(uiWords);
  const language = useLanguage();
  const { gcTime, onWithheld } = options ?? {};
  const change = useChange(route, gcTime === undefined ? {} : { gcTime });
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const textOf = useErrorText();
  const [faults, setFaults] = useState<Readonly<Record<string, LocalText>>>({});
  const [question, setQuestion] = useState<{ effects: LocalText[]; onConfirm: () => void }>();
  const run: ConfirmedChange<Route>["run"] = async (input, onDone) => {
    setFaults({});
    try {
      const answer = await change.mutateAsync(input);
      onDone?.(answer);
      return answer;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (error.code === "APPROVAL_NEEDED") {
        notice({ text: textOf(error) });
        onWithheld?.();
        return undefined;
      }
      if (error.code !== "CONFIRMATION_NEEDED") {
        setFaults(error.fields);
        onFailed(error);
        return undefined;
      }
      // Only routes with this field in their query ask for it.
      const { query = {} } = input as { query?: object };
      const confirmed = { ...input, query: { ...query, confirmed: true } };
      setQuestion({
        effects: Object.values(error.fields),
        onConfirm: () => {
          setQuestion(undefined);
          void run(confirmed, onDone);
        },
      });
      return undefined;
    }
  };
  const dialog = question && (
    <Dialog title={words.confirm} onClose={() => setQuestion(undefined)}>
      {question.effects
        .map((effect) => effect.in(language))
        .map((effect) => (
          <p key={effect}>{effect}</p>
        ))}
      <div className="dialog-foot">
        <Button onClick={() => setQuestion(undefined)}>{words.cancel}</Button>
        <Button look="primary" onClick={question.onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
  return { run, isPending: change.isPending, faults, dialog };
}
