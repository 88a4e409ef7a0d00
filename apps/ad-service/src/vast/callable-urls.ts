import { hasUserInfo } from "@intermission/ad-core/web-address";

/** Limit for one event of one ad. */
const MOST_URLS = 32;
export const LONGEST_URL = 4096;

/** Empty and relative URLs, which some ad servers send, cannot be called; macros never occur in scheme or host. */
const CALLABLE = /^https?:\/\/[^/[\]%{}]+(\/|\?|$)/i;

/** Adds a callable URL once; the list grows no longer than the number of calls for one event. */
export function addCallableUrl(urls: string[], url: string | null | undefined): void {
  if (!url || urls.length >= MOST_URLS || url.length > LONGEST_URL || !CALLABLE.test(url) || hasUserInfo(url)) return;
  if (!urls.includes(url)) urls.push(url);
}

/** The callable URLs of several lists, each once, the first 32. */
export function callableUrls(...lists: readonly (readonly string[] | undefined)[]): string[] {
  const urls: string[] = [];
  for (const list of lists) for (const url of list ?? []) addCallableUrl(urls, url);
  return urls;
}
