interface Press {
  /** Of the rows, as they stand in the table. */
  keys: readonly string[];
  /** Of the row whose box is pressed. */
  key: string;
  isChosen: boolean;
  /** With Shift: of the row that was pressed before. */
  from: string | undefined;
}

/** What is chosen after a press: the row, or all from the one before; a box that is cleared is cleared alone. */
export function chosenKeys(selected: ReadonlySet<string>, { keys, key, isChosen, from }: Press): Set<string> {
  const chosen = new Set(selected);
  if (!isChosen) {
    chosen.delete(key);
    return chosen;
  }
  const [start, end] = [from === undefined ? -1 : keys.indexOf(from), keys.indexOf(key)];
  const range = start < 0 ? [key] : keys.slice(Math.min(start, end), Math.max(start, end) + 1);
  for (const one of range) chosen.add(one);
  return chosen;
}
