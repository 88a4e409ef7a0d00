import { advertiserKey, advertiserRoutes } from "@intermission/operator-api/advertisers";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { answerOf } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { usePaused } from "../ui/use-paused.ts";

const MAX_SUGGESTED = 20;

/** The first advertisers whose names have what is typed, after a pause. */
export function useAdvertisersLike(typed: string) {
  const name = usePaused(typed.trim());
  const query = { name: name || undefined, limit: MAX_SUGGESTED };
  const { data, isPlaceholderData } = useQuery({
    ...answerOf(advertiserRoutes.listAdvertisers, { query }),
    enabled: useMay()("listAdvertisers"),
    placeholderData: keepPreviousData,
  });
  return { data, isOf: (text: string) => !isPlaceholderData && advertiserKey(text) === advertiserKey(name) };
}

/** Whether a name makes an advertiser; false while that is not known, and without a name. */
export function useIsNewAdvertiser(typed: string): (name: string) => boolean {
  const { data, isOf } = useAdvertisersLike(typed);
  return (name) => {
    const key = advertiserKey(name);
    // An id is of one that exists, and where many names have this one in them, it may be among those that were not read.
    if (key === "" || data === undefined || data.next !== null || !isOf(name) || name.startsWith("adv_")) return false;
    return !data.advertisers.some((one) => advertiserKey(one.name) === key);
  };
}
