const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** `Retry-After` of RFC 9110, 10.2.3: seconds, or a date in its one current form. A past date is 0; junk is undefined. */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,15}$/.test(header)) return Number(header);
  if (!HTTP_DATE.test(header)) return undefined;
  const milliseconds = Date.parse(header);
  if (Number.isNaN(milliseconds)) return undefined;
  return Math.max(0, Math.ceil((milliseconds - now.getTime()) / 1000));
}
