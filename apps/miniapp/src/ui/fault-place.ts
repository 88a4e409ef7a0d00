/**
 * A short code for a fault of ours: which built file, line and column it came from. It leads to the very place, and it
 * holds nothing of the user's, which an error's message might.
 */
export function faultPlace(fault: unknown): string {
  if (!(fault instanceof Error)) return "unknown";
  const [, file, line, column] = /([\w-]+)[.](?:js|tsx?)[^\s:]*:(\d+):(\d+)/.exec(fault.stack ?? "") ?? [];
  return file ? `${file}-${line}-${column}` : fault.name;
}
