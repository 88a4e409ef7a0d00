import {
  errorEnvelope,
  namedReward,
  namedRewards,
  statsFigures,
  unavailableReason,
  viewState,
} from "@intermission/ad-core/client-api";
import { endpointState, payPerCode } from "@intermission/ad-core/client-words";
import { anyEventType } from "@intermission/ad-core/event-words";
import { listedEvent } from "@intermission/ad-core/listed-event";
import { webhookEvent } from "@intermission/ad-core/webhook-event";
import { deliveryState, eventType } from "@intermission/ad-core/wire-fields";
import { tokenEntry } from "@intermission/operator-api/bots";
import { campaign } from "@intermission/operator-api/campaigns";
import { creative } from "@intermission/operator-api/creatives";
import type { ApiDescription } from "@intermission/server/describe-api";

const rewardSchemas = { NamedReward: namedReward, NamedRewards: namedRewards };

/*
 * The OpenAPI documents of this server's three APIs, except their operations: each route declares its own.
 */

export function clientApi(publicUrl: string): ApiDescription {
  return {
    title: "Intermission: client API",
    description:
      "The API of the ad service for publishers. Changes only add to it: new optional fields, new endpoints.",
    prefix: "/client/v1",
    publicUrl,
    securitySchemes: { apiToken: { type: "http", scheme: "bearer", description: "The bot's API token, `ad_…`." } },
    errorBody: errorEnvelope,
    refusals: [401, 403, 429],
    headers: ["RateLimit-Policy", "RateLimit"],
    webhooks: {
      event: {
        name: "WebhookEvent",
        summary: "Sent to the bot's webhook address, signed with its token in X-Signature. Any 2xx is success.",
        body: webhookEvent,
      },
    },
    sharedSchemas: {
      ...rewardSchemas,
      EventType: eventType,
      AnyEventType: anyEventType,
      PayPerCode: payPerCode,
      ViewState: viewState,
      UnavailableReason: unavailableReason,
      ListedEvent: listedEvent,
      DeliveryState: deliveryState,
      EndpointState: endpointState,
      StatsFigures: statsFigures,
    },
  };
}

export function playerApi(publicUrl: string): ApiDescription {
  return {
    title: "Intermission: player API",
    description:
      "The API of the ad service for the mini-app. Opening a session takes Telegram's signed launch data and returns the " +
      "session's token; the other calls send that token in their body, since a beacon cannot set headers.",
    prefix: "/player/v1",
    publicUrl,
    errorBody: errorEnvelope,
    refusals: [],
    sharedSchemas: { ...rewardSchemas, ViewState: viewState },
  };
}

export function operatorApi(publicUrl: string): ApiDescription {
  return {
    title: "Intermission: operator API",
    description:
      "The API behind the command line `ads`. Over the network it takes OPERATOR_TOKEN, where that is set, or the session of " +
      "a person who signed in, and answers 404 to everybody else. The command line uses it through a socket in the data " +
      "folder, without a token. Requests that change something with a session name the origin of PUBLIC_URL.",
    prefix: "/operator/v1",
    publicUrl,
    securitySchemes: {
      operatorToken: { type: "http", scheme: "bearer", description: "OPERATOR_TOKEN of the ad service." },
      session: { type: "apiKey", in: "cookie", name: "__Host-operator", description: "Set by `signIn`." },
    },
    errorBody: errorEnvelope,
    refusals: [401, 403, 404, 429],
    sharedSchemas: {
      Campaign: campaign,
      Creative: creative,
      AnyEventType: anyEventType,
      EventType: eventType,
      TokenEntry: tokenEntry,
    },
  };
}
