import { type RefObject, useRef } from "react";
import { useWords } from "../words/word-table.ts";
import { chosenKeys } from "./chosen-keys.ts";
import { uiWords } from "./words.ts";

/** Which rows of a table are chosen, by their keys. */
export interface RowSelection<Row> {
  selected: ReadonlySet<string>;
  onSelect: (keys: ReadonlySet<string>) => void;
  /** For screen readers: what the checkbox of a row chooses. */
  nameOf: (row: Row) => string;
  /** The table, to which the focus can be moved. */
  table?: RefObject<HTMLTableElement | null>;
}

interface SelectAllProps<Row> {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selection: RowSelection<Row>;
}

interface SelectRowProps<Row> extends SelectAllProps<Row> {
  row: Row;
  /** The key of the row that was pressed last, of the whole table. */
  pressed: RefObject<string | undefined>;
}

/** Chooses a row; with Shift, all from the row that was pressed before, as they stand in the table. */
export function SelectRow<Row>({ row, rows, keyOf, selection, pressed }: SelectRowProps<Row>) {
  const words = useWords(uiWords);
  const { selected, onSelect, nameOf } = selection;
  const key = keyOf(row);
  const choose = (isChosen: boolean, isRange: boolean) => {
    onSelect(
      chosenKeys(selected, { keys: rows.map(keyOf), key, isChosen, from: isRange ? pressed.current : undefined }),
    );
    pressed.current = key;
  };
  return (
    <input
      type="checkbox"
      aria-label={words.selectRow(nameOf(row))}
      checked={selected.has(key)}
      onChange={({ target, nativeEvent }) =>
        choose(target.checked, "shiftKey" in nativeEvent && nativeEvent.shiftKey === true)
      }
    />
  );
}

/** Chooses all rows of the list, also those that are not shown yet, or none. */
export function SelectAll<Row>({ rows, keyOf, selection }: SelectAllProps<Row>) {
  const words = useWords(uiWords);
  const box = useRef<HTMLInputElement>(null);
  const count = rows.reduce((sum, row) => sum + Number(selection.selected.has(keyOf(row))), 0);
  const isAll = count > 0 && count === rows.length;
  if (box.current !== null) box.current.indeterminate = count > 0 && !isAll;
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label={words.selectAll}
      checked={isAll}
      onChange={() => selection.onSelect(new Set(isAll ? [] : rows.map(keyOf)))}
    />
  );
}
