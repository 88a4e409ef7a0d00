import type { TokenEntry } from "@intermission/operator-api/bots";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { tokensWords } from "./tokens-words.ts";

/** A token that a request has used within this time is taken to be in use. */
const IN_USE_MS = 3_600_000;
/** Uses are stored to the minute. */
const GRAIN_MS = 60_000;

interface UseProps {
  token: Pick<TokenEntry, "lastUsedAt">;
}

/** How a token's last use is said: with how long ago while it is in use, else with the moment. */
function useLastUse({ token: { lastUsedAt } }: UseProps) {
  const { ago, dateTime } = useFormats();
  if (lastUsedAt === null) return { use: "never" } as const;
  const now = Date.now();
  const ageMs = Math.max(GRAIN_MS, now - lastUsedAt.getTime());
  if (ageMs < IN_USE_MS) return { use: "recent", time: ago(new Date(now - ageMs), now) } as const;
  return { use: "past", time: dateTime(lastUsedAt) } as const;
}

/** Beside a token in the list. */
export function LastUse(props: UseProps) {
  const { neverUsed, lastUsed, notUsedSince } = useWords(tokensWords);
  const last = useLastUse(props);
  if (last.use === "never") return <small>{neverUsed}</small>;
  return <small>{last.use === "recent" ? lastUsed(last.time) : notUsedSince(last.time)}</small>;
}

/** Of a token that is about to stop working: a warning while something sends it. */
export function UseOfOld({ which, ...props }: UseProps & { which: "old" | "this" }) {
  const words = useWords(tokensWords);
  const last = useLastUse(props);
  const token = words.which[which];
  if (last.use === "recent") return <p className="late">{words.oldInUse({ token, ago: last.time })}</p>;
  return (
    <p className="secondary">
      {last.use === "never" ? words.oldNeverUsed(token) : words.oldNotUsedSince({ token, time: last.time })}
    </p>
  );
}

/** Of a token that is about to be activated: a warning until something sends it. */
export function UseOfNext(props: UseProps) {
  const words = useWords(tokensWords);
  const last = useLastUse(props);
  if (last.use === "recent") return <p className="secondary">{words.nextInUse(last.time)}</p>;
  return <p className="late">{last.use === "never" ? words.nextNeverUsed : words.nextNotUsedSince(last.time)}</p>;
}
