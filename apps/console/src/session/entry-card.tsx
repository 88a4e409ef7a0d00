import { type ReactNode, useEffect } from "react";
import icon from "../ui/icon.svg";
import { useWords } from "../words/word-table.ts";
import { sessionWords } from "./words.ts";
import "./entry-card.css";

/** The frame of the pages that people see before they are signed in. */
export function EntryCard({ title, children }: { title: string; children: ReactNode }) {
  const words = useWords(sessionWords);
  useEffect(() => {
    document.title = `${title} · Intermission`;
  }, [title]);
  return (
    <main className="entry">
      <div className="entry-card">
        <p className="entry-brand">
          <img src={icon} alt="" width="28" height="28" />
          <span>
            <strong>Intermission</strong>
            <small>{words.brand}</small>
          </span>
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
