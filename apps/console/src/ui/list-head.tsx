import type { ReactNode } from "react";
import { SearchField } from "./search-field.tsx";

interface ListHeadProps {
  /** What is typed into the search field; undefined: nothing is sought. */
  find: string | undefined;
  findLabel: string;
  onFind: (find: string | undefined) => void;
  /** Before the search: what decides which rows there are. */
  lead?: ReactNode;
  /** After the search: the filters. */
  children?: ReactNode;
  /** How many rows are shown. */
  count: ReactNode;
  /** What can be done with all that are shown, and how they are shown (`ListView`). */
  actions?: ReactNode;
}

/** Above a list: its search, its filters, how many rows are shown, and what can be done with them. */
export function ListHead({ find, findLabel, onFind, lead, children, count, actions }: ListHeadProps) {
  return (
    <div className="list-head">
      {lead}
      <SearchField label={findLabel} value={find ?? ""} onChange={(text) => onFind(text || undefined)} />
      {children}
      <span className="secondary" role="status">
        {count}
      </span>
      {actions && <span className="list-actions">{actions}</span>}
    </div>
  );
}
