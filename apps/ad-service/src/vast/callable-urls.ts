import { hasUserInfo } from "@intermission/ad-core/web-address";

/** Of one event of one ad. */
const MOST_URLS = 32;
export const LONGEST_URL = 4096;

/** Empty and relative ones, which some ad servers send, cannot be called; macros never stand in scheme or host. */
const CALLABLE = /^https?:\/\/[^/[\]%{}]+(\/|\?|$)/i;

/** Adds a URL that may be called, once; the list grows no longer than what is called of one event. */
export function addCallableUrl(urls: string[], url: string | null | undefined): void {
  if (!url || urls.length >= MOST_URLS || url.length > LONGEST_URL || !CALLABLE.test(url) || hasUserInfo(url)) return;
  if (!urls.includes(url)) urls.push(url);
}

/** The callable ones of several lists, each once, the first 32. */
export function callableUrls(...lists: readonly (readonly string[] | undefined)[]): string[] {
  const urls: string[] = [];
  for (const list of lists) for (const url of list ?? []) addCallableUrl(urls, url);
  return urls;
}
