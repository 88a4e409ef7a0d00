import { botRoutes } from "@intermission/operator-api/bots";
import { useState } from "react";
import { useWholeList } from "../operator/use-operator.ts";
import type { ControlProps } from "./checks-box.tsx";
import { WholePickList } from "./pick-list.tsx";

/** Bots, by name or id. */
export function BotsField(shown: ControlProps) {
  const { data } = useWholeList(botRoutes.listBots);
  const [text, setText] = useState("");
  const picks = (data?.bots ?? []).map(({ botId, name }) => ({ value: botId, text: `${name} (${botId})` }));
  return <WholePickList {...shown} picks={picks} text={text} onText={setText} />;
}
