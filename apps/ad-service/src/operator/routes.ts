import type { FastifyInstance } from "fastify";
import { authorizeOperator, type OperatorDoor } from "./authorize-operator.ts";
import { type BotEndpointDeps, botEndpoints } from "./bot-endpoints.ts";
import { type CampaignEndpointDeps, campaignEndpoints } from "./campaign-endpoints.ts";
import { type CreativeEndpointDeps, creativeEndpoints } from "./creative-endpoints.ts";
import { deliveryEndpoints } from "./delivery-endpoints.ts";
import { tokenEndpoints } from "./token-endpoints.ts";

export type OperatorDeps = BotEndpointDeps & CampaignEndpointDeps & CreativeEndpointDeps & OperatorDoor;

/** `/operator/v1`: what the operator's command line speaks. Field names are the verbs' own. */
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
      deliveryEndpoints(scope, deps);
    },
    { prefix: "/operator/v1" },
  );
}
