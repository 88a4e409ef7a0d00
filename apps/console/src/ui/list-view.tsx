import { useNavigate, useSearch } from "@tanstack/react-router";
import { useId, useState } from "react";
import { useWords } from "../words/word-table.ts";
import type { Column } from "./data-table.tsx";
import { Icon } from "./icon.tsx";
import { useHiddenColumns } from "./list-columns.ts";
import { uiWords } from "./words.ts";

interface ListViewProps<Row> {
  /** The list's name, as its `DataTable` has it. */
  list: string;
  columns: readonly Column<Row>[];
}

/** Above a list: which of its columns are shown, and their order, which on a phone has no heads to press. */
export function ListView<Row>({ list, columns }: ListViewProps<Row>) {
  const words = useWords(uiWords);
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button button-plain" popoverTarget={id}>
        <Icon name="columns" />
        {words.view}
      </button>
      <div
        id={id}
        popover="auto"
        className="actions-menu list-view"
        onBeforeToggle={({ newState }) => setOpen(newState === "open")}
      >
        {isOpen && (
          <>
            <OrderSelect columns={columns} />
            <ColumnChoice list={list} columns={columns} />
          </>
        )}
      </div>
    </>
  );
}

function OrderSelect<Row>({ columns }: Pick<ListViewProps<Row>, "columns">) {
  const words = useWords(uiWords);
  const address: Readonly<Record<string, unknown>> & { sort?: string } = useSearch({ strict: false });
  const navigate = useNavigate();
  const orders = columns
    .filter(({ sortBy }) => sortBy !== undefined)
    .flatMap(({ id, title }) => [
      { value: `${id}`, text: words.ascending(title) },
      { value: `-${id}`, text: words.descending(title) },
    ]);
  if (orders.length === 0) return null;
  const choose = (sort: string) =>
    void navigate({ to: ".", search: { ...address, sort: sort || undefined }, replace: true, resetScroll: false });
  return (
    <label className="filter">
      {words.order}
      <select
        value={orders.some(({ value }) => value === address.sort) ? address.sort : ""}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">{words.asListed}</option>
        {orders.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function ColumnChoice<Row>({ list, columns }: ListViewProps<Row>) {
  const words = useWords(uiWords);
  const [hidden, hide] = useHiddenColumns(list);
  // The first one names the row.
  const hideable = columns.slice(1).flatMap(({ id, title }) => (id === undefined ? [] : { id, title }));
  return (
    <fieldset className="choices">
      <legend>{words.columns}</legend>
      {hideable.map(({ id, title }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={!hidden.includes(id)}
            onChange={({ target }) => hide(target.checked ? hidden.filter((one) => one !== id) : [...hidden, id])}
          />
          {title}
        </label>
      ))}
    </fieldset>
  );
}
