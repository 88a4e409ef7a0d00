import type { FastifyInstance } from "fastify";
import { advertiserEndpoints } from "./advertiser-endpoints.ts";
import { authorizeOperator, type OperatorAuth } from "./authorize-operator.ts";
import { type BotEndpointDeps, botEndpoints } from "./bot-endpoints.ts";
import { type CampaignEndpointDeps, campaignEndpoints } from "./campaign-endpoints.ts";
import { clickEndpoints } from "./click-endpoints.ts";
import { type CreativeEndpointDeps, creativeEndpoints } from "./creative-endpoints.ts";
import { deliveryEndpoints } from "./delivery-endpoints.ts";
import { type ExplainEndpointDeps, explainEndpoint } from "./explain-endpoint.ts";
import { replayEndpoints } from "./replay-endpoints.ts";
import { type StatsEndpointDeps, statsEndpoints } from "./stats-endpoints.ts";
import { tokenEndpoints } from "./token-endpoints.ts";
import { userEndpoints } from "./user-endpoints.ts";
import { viewEndpoints } from "./view-endpoints.ts";
import { type WebhookEndpointDeps, webhookEndpoints } from "./webhook-endpoints.ts";

export type OperatorDeps = BotEndpointDeps &
  CampaignEndpointDeps &
  CreativeEndpointDeps &
  WebhookEndpointDeps &
  StatsEndpointDeps &
  ExplainEndpointDeps &
  OperatorAuth;

/** `/operator/v1`: the API of the operator's command line. */
export function operatorRoutes(app: FastifyInstance, deps: OperatorDeps): void {
  app.register(
    async (scope) => {
      scope.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        authorizeOperator(request, deps);
      });
      botEndpoints(scope, deps);
      tokenEndpoints(scope, deps);
      creativeEndpoints(scope, deps);
      campaignEndpoints(scope, deps);
      advertiserEndpoints(scope, deps);
      explainEndpoint(scope, deps);
      webhookEndpoints(scope, deps);
      deliveryEndpoints(scope, deps);
      replayEndpoints(scope, deps);
      viewEndpoints(scope, deps);
      clickEndpoints(scope, deps);
      statsEndpoints(scope, deps);
      userEndpoints(scope, deps);
    },
    { prefix: "/operator/v1" },
  );
}
