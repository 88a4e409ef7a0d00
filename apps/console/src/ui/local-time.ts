/** A moment in the reader's time zone, as `<input type="datetime-local">` has it; empty: none. */
export function toLocalInput(at: Date | null): string {
  if (at === null) return "";
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export function fromLocalInput(text: string): string | null {
  return text === "" ? null : new Date(text).toISOString();
}
