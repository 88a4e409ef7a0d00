import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { useChange } from "../operator/use-operator.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { resultText } from "./result-text.ts";
import { botWords } from "./words.ts";

/** Sends a test webhook to a bot, and says how its program has answered. */
export function useEndpointTest(botId: string): { run: () => void; isPending: boolean } {
  const words = useWords(botWords);
  const language = useLanguage();
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const test = useChange(endpointRoutes.testEndpoint);
  const run = () =>
    test.mutate(
      { params: { botId }, body: {} },
      {
        onError: onFailed,
        onSuccess: async ({ isDelivered, totalMs, answer, warnings, ...made }) => {
          const { adviceText, warningText } = await import("./delivery-texts.ts");
          const doubts = warnings.map((warning) => warningText(language, warning)).join(" ");
          const why = adviceText(language, { ...made, text: answer }) ?? resultText(language, made);
          if (!isDelivered) notice({ text: words.testFailed(why), look: "failed" });
          else if (doubts !== "") notice({ text: words.testDoubtful(doubts), look: "failed" });
          else notice({ text: words.testDelivered(String(totalMs ?? 0)) });
        },
      },
    );
  return { run, isPending: test.isPending };
}
