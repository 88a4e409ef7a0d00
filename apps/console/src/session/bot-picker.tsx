import { botRoutes } from "@intermission/operator-api/bots";
import { useQuery } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { answerOf } from "../operator/use-operator.ts";
import { SearchSelect } from "../ui/search-select.tsx";
import { MAX_OFFERED, type Offered } from "../ui/use-offered.ts";
import { useMay, usePerson } from "./use-session.ts";

export interface PickerProps {
  label: string;
  id?: string;
  value: string | undefined;
  /** The text of no choice. */
  all: string;
  onChange: (value: string | undefined) => void;
}

/** Chooses one of the bots that the person sees. */
export function BotPicker(props: PickerProps) {
  const { botIds } = usePerson();
  const may = useMay();
  const read = async (find: string | undefined, signal: AbortSignal): Promise<Offered> => {
    if (!may("listBots")) {
      const own = botIds.map((botId) => callOperator(botRoutes.showBot, { params: { botId } }, signal));
      return {
        options: (await Promise.all(own)).map(({ botId, name }) => ({ value: botId, text: name })),
        isMore: false,
      };
    }
    const query = { find, sort: "name", limit: MAX_OFFERED } as const;
    const { bots, next } = await callOperator(botRoutes.listBots, { query }, signal);
    const isMore = next !== null;
    return { options: bots.map(({ botId, name }) => ({ value: botId, text: name })), isMore };
  };
  return <SearchSelect {...props} name={useBotName(props.value)} of="bots" read={read} />;
}

/** Undefined until it is read, and without a bot. */
export function useBotName(botId: string | undefined): string | undefined {
  const may = useMay();
  const bot = answerOf(botRoutes.showBot, { params: { botId: botId ?? "" } });
  return useQuery({ ...bot, enabled: botId !== undefined && may("showBot"), retry: false }).data?.name;
}

/** A bot by its name, and by its id until that is read. */
export function BotName({ botId }: { botId: string }) {
  return useBotName(botId) ?? botId;
}
