import { type ComponentProps, useEffect, useState } from "react";
import { useTranslator } from "./locales/use-translator.tsx";
import type { RewardStatus } from "./reward-status/reward-status.tsx";
import { Notice } from "./ui/notice.tsx";

type StatusModule = typeof import("./reward-status/reward-status.tsx");

const PAUSE_MS = 2000;

let loading: Promise<StatusModule> | undefined;
let loaded: StatusModule | undefined;

/** Loads the status screen's chunk, which comes after the video. Retries, so that a lost connection only delays it. */
export function loadRewardStatus(): Promise<StatusModule> {
  loading ??= load();
  return loading;
}

async function load(): Promise<StatusModule> {
  for (;;) {
    try {
      loaded = await import("./reward-status/reward-status.tsx");
      return loaded;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/**
 * The status screen, immediately if its chunk is loaded. `lazy` with `Suspense` would show the fallback in any case, and for
 * at least 300 ms.
 */
export function LazyRewardStatus(props: ComponentProps<typeof RewardStatus>) {
  const { text } = useTranslator();
  const [status, setStatus] = useState(loaded);
  useEffect(() => {
    if (!status) loadRewardStatus().then(setStatus);
  }, [status]);
  if (status) return <status.RewardStatus {...props} />;
  return (
    <Notice isLive state="status-checking" icon="spinner" title={text("checking.title")}>
      <p className="secondary">{text("checking.text")}</p>
    </Notice>
  );
}
