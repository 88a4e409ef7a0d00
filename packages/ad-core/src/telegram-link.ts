/** Where Telegram's public links are; `<username>.t.me` is the link of that username. */
const hosts: readonly string[] = ["t.me", "www.t.me", "telegram.me", "www.telegram.me", "telegram.dog"];
/** Shorter names are not usernames but pages of Telegram, such as `web.t.me`. */
const HOST_OF_USERNAME = /^([a-z]\w{3,31})\.t\.me$/;

/**
 * A link that Telegram's clients open inside Telegram, as `https://t.me/…`, the only form that a mini-app may pass to them.
 * Undefined for all other addresses, which open in a browser.
 */
export function telegramLink(address: string): string | undefined {
  const url = URL.parse(webForm(address) ?? address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.port !== "") return undefined;
  const [, username] = HOST_OF_USERNAME.exec(url.hostname) ?? [];
  if (username === undefined && !hosts.includes(url.hostname)) return undefined;
  const path = username === undefined ? url.pathname : `/${username}${url.pathname}`.replace(/\/$/, "");
  return path === "/" ? undefined : `https://t.me${path}${url.search}`;
}

/**
 * The `https://t.me/…` form of a `tg:` address, which browsers and other apps can open, too. Undefined for an address of another
 * scheme, and for a `tg:` address that has no such form, such as `tg://settings`.
 */
export function webForm(address: string): string | undefined {
  const url = URL.parse(address);
  if (url?.protocol !== "tg:") return undefined;
  const name = (url.host || url.pathname.replace(/^\/+/, "")).toLowerCase();
  const values = new Map(parametersOf(url.search));
  const taken = new Set<string>();
  // A macro such as {click_id} stays as it is written.
  const path = Object.hasOwn(paths, name)
    ? paths[name]?.((key) => {
        taken.add(key);
        const value = values.get(key);
        return value && SEGMENT.test(value) ? value : undefined;
      })
    : undefined;
  if (path === undefined) return undefined;
  const rest = parametersOf(url.search).filter(([key]) => !taken.has(key));
  const query = rest.map(([key, value]) => (value === undefined ? key : `${key}=${value}`)).join("&");
  return `https://t.me/${path}${query && `?${query}`}`;
}

const SEGMENT = /^[^/?#%]+$/;

function parametersOf(search: string): (readonly [key: string, value: string | undefined])[] {
  const parts = search.slice(1).split("&");
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const end = part.indexOf("=");
      return end < 0 ? [part, undefined] : [part.slice(0, end), part.slice(end + 1)];
    });
}

/** Returns a parameter that becomes a part of the path; those that are not taken stay in the query. */
type Take = (key: string) => string | undefined;

const below =
  (folder: string, key: string) =>
  (take: Take): string | undefined => {
    const value = take(key);
    return value && `${folder}${value}`;
  };

function resolved(take: Take): string | undefined {
  const phone = take("phone");
  if (phone !== undefined) return `+${phone.replace(/^\+/, "")}`;
  const domain = take("domain");
  const page = take("appname") ?? take("post");
  const [story, album, collection] = [take("story"), take("album"), take("collection")];
  if (domain === undefined || page !== undefined) return domain && `${domain}/${page}`;
  if (story !== undefined) return `${domain}/s/${story}`;
  if (album !== undefined) return `${domain}/a/${album}`;
  return collection === undefined ? domain : `${domain}/c/${collection}`;
}

function privatePost(take: Take): string | undefined {
  const [channel, post] = [take("channel"), take("post")];
  return channel && post && `c/${channel}/${post}`;
}

/** What a `tg:` address opens, by its name (core.telegram.org/api/links). */
const paths: Readonly<Record<string, (take: Take) => string | undefined>> = {
  resolve: resolved,
  privatepost: privatePost,
  join: below("+", "invite"),
  addlist: below("addlist/", "slug"),
  addstickers: below("addstickers/", "set"),
  addemoji: below("addemoji/", "set"),
  addtheme: below("addtheme/", "slug"),
  addstyle: below("addstyle/", "slug"),
  bg: (take) => below("bg/", "slug")(take) ?? below("bg/", "color")(take) ?? below("bg/", "gradient")(take),
  boost: below("boost/", "domain"),
  contact: below("contact/", "token"),
  giftcode: below("giftcode/", "slug"),
  invoice: below("$", "slug"),
  call: below("call/", "slug"),
  setlanguage: below("setlanguage/", "lang"),
  stargift_auction: below("auction/", "slug"),
  proxy: () => "proxy",
  socks: () => "socks",
  confirmphone: () => "confirmphone",
  message: below("m/", "slug"),
  nft: below("nft/", "slug"),
  msg_url: () => "share/url",
  share: () => "share/url",
};
