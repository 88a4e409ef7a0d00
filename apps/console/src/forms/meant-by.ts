export interface Pick {
  value: string;
  text: string;
}

interface Offered {
  found: readonly Pick[] | undefined;
  chosen: readonly string[];
}

/** What Enter chooses after a search: the first one that is found, and none in its place where that is chosen. */
export function meantBy(text: string, { found, chosen }: Offered): Pick | undefined {
  const [first] = found ?? [];
  return text.trim() === "" || first === undefined || chosen.includes(first.value) ? undefined : first;
}
