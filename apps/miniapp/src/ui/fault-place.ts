/**
 * A short code for an error in the app: the built file, line and column. It locates the error exactly and contains no user
 * data, which an error's message might.
 */
export function faultPlace(fault: unknown): string {
  if (!(fault instanceof Error)) return "unknown";
  const [, file, line, column] = /([\w-]+)[.](?:js|tsx?)[^\s:]*:(\d+):(\d+)/.exec(fault.stack ?? "") ?? [];
  return file ? `${file}-${line}-${column}` : fault.name;
}
