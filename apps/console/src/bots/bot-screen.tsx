import { botRoutes } from "@intermission/operator-api/bots";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { getRouteApi } from "@tanstack/react-router";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { AnswerView, AsOf } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";

const route = getRouteApi("/shell/bots/$botId");

export function BotScreen() {
  const { botId } = route.useParams();
  const bot = useAnswer(botRoutes.showBot, { params: { botId } });
  const endpoint = useAnswer(endpointRoutes.showEndpoint, { params: { botId } });
  const test = useChange(endpointRoutes.testEndpoint);
  return (
    <Page title={bot.data?.name ?? botId} aside={endpoint.data && <AsOf at={endpoint.data.asOf} />}>
      <AnswerView query={endpoint}>
        {({ url }) => (
          <div className="panel">
            <p>{url}</p>
            <Button isBusy={test.isPending} onClick={() => test.mutate({ params: { botId }, body: {} })}>
              Test
            </Button>
          </div>
        )}
      </AnswerView>
    </Page>
  );
}
