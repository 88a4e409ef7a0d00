import { type ReactNode, useId } from "react";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { Icon } from "./icon.tsx";
import { uiWords } from "./words.ts";
import "./checklist.css";

export interface ChecklistStep {
  key: string;
  text: ReactNode;
  isDone: boolean;
}

/** Steps to something, and which of them are done. */
export function Checklist({ title, steps }: { title: string; steps: readonly ChecklistStep[] }) {
  const words = useWords(uiWords);
  const { number } = useFormats();
  const id = useId();
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section className="panel stack" aria-labelledby={id}>
      <header className="panel-head">
        <h2 id={id}>{title}</h2>
        <span className="secondary" role="status">
          {words.stepsDone({ done: number(done), all: number(steps.length) })}
        </span>
      </header>
      <ul className="checklist">
        {steps.map(({ key, text, isDone }) => (
          <li key={key} className={isDone ? "checklist-done" : undefined}>
            {isDone ? <Icon name="check" /> : <span className="checklist-open" />}
            <span>
              {text}
              <span className="only-heard">: {isDone ? words.stepDone : words.stepOpen}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
