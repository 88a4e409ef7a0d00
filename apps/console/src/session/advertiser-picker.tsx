import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { useQuery } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { answerOf } from "../operator/use-operator.ts";
import { SearchSelect } from "../ui/search-select.tsx";
import { MAX_OFFERED, type Offered } from "../ui/use-offered.ts";
import type { PickerProps } from "./bot-picker.tsx";
import { usePerson } from "./use-session.ts";

interface AdvertiserPickerProps extends PickerProps {
  /** Whether the value is its id; otherwise it is its name, which an address shows. */
  isId?: boolean;
}

/** Chooses one of all advertisers. */
export function AdvertiserPicker({ isId = false, ...props }: AdvertiserPickerProps) {
  const read = async (find: string | undefined, signal: AbortSignal): Promise<Offered> => {
    const query = { name: find, limit: MAX_OFFERED };
    const { advertisers, next } = await callOperator(advertiserRoutes.listAdvertisers, { query }, signal);
    return {
      options: advertisers.map(({ advertiserId, name }) => ({ value: isId ? advertiserId : name, text: name })),
      isMore: next !== null,
    };
  };
  const nameOfId = useAdvertiserName(isId ? props.value : undefined);
  const name = isId ? nameOfId : props.value;
  return <SearchSelect {...props} name={name} of={isId ? "advertiser ids" : "advertisers"} read={read} />;
}

/** Undefined until it is read, and without an advertiser. */
export function useAdvertiserName(advertiserId: string | null | undefined): string | undefined {
  const person = usePerson();
  const isOwn = advertiserId === person.advertiserId;
  const read = answerOf(advertiserRoutes.showAdvertiser, { params: { advertiser: advertiserId ?? "" } });
  const { data } = useQuery({ ...read, enabled: Boolean(advertiserId) && !isOwn, retry: false });
  return isOwn ? (person.advertiser ?? undefined) : data?.name;
}
