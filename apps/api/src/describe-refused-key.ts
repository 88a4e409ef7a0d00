import { type BearerFault, bearerFaultOf } from "@intermission/server/bearer-fault";

const sendBearer = "send: Authorization: Bearer <BACKEND_API_KEY>";
const ownKey = "this API takes its own key for the bot's backend, the value that it has as BACKEND_API_KEY";

const sentences = {
  missing: `the Authorization header is missing; ${sendBearer}`,
  "no-scheme": `the Authorization header has a key and no word before it; ${sendBearer}`,
  "other-scheme": `the Authorization header has another scheme than Bearer; ${sendBearer}`,
  "no-token": `the Authorization header has no key: the client's setting is empty; ${sendBearer}`,
  quoted: "the key in the Authorization header is in quotes: remove them from the client's setting",
  "bot-token": `the Authorization header has a token of @BotFather; ${ownKey}`,
  several: `the Authorization header has more than one key; ${sendBearer}`,
  "other-form": `the key in the Authorization header is of no bot here, or was replaced; ${ownKey}`,
} satisfies Record<BearerFault, string>;

/** Why the header of a caller that is nobody's was refused. Never says more of a key than its form. */
export function describeRefusedKey(authorization: string | undefined): string {
  const fault = bearerFaultOf(authorization);
  if (fault === "other-form" && / ad_/.test(authorization ?? ""))
    return `the Authorization header has an API token of the ad service; ${ownKey}`;
  // The mini-app's: its bot, a full stop, and what was signed.
  if (fault === "other-form" && / [1-9][0-9]*\./.test(authorization ?? ""))
    return "the session token in the Authorization header is unknown or has expired: open the mini-app again";
  return sentences[fault];
}
