import { publicKeyOf } from "@intermission/ad-core/telegram-init-data";
import type { Database } from "@intermission/postgres/open-database";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { serveApiReference } from "@intermission/server/api-reference";
import { checkRequests } from "@intermission/server/checked-routes";
import { compressAnswers } from "@intermission/server/compress-answers";
import { describeApi } from "@intermission/server/describe-api";
import { guardToken, wrongTokenCounter } from "@intermission/server/guard-token";
import { healthRoutes, requireDatabase } from "@intermission/server/health";
import { createHttpServer, refuseOtherMethods } from "@intermission/server/http-server";
import type { Logger } from "@intermission/server/logger";
import { countRequests, isScraped, metricsRoutes } from "@intermission/server/metrics";
import { parseOperatorRequest } from "@intermission/server/parse-request";
import { rateLimiter } from "@intermission/server/rate-limiter";
import type { SecretBox } from "@intermission/server/secret-box";
import { traceRequests } from "@intermission/server/trace-requests";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import type { CampaignSnapshot } from "./ad-selection/campaign-snapshot.ts";
import { explainOperatorRoutes } from "./ad-selection/operator-routes.ts";
import { requireAdvertiser } from "./advertisers/advertisers.ts";
import { advertiserOperatorRoutes } from "./advertisers/operator-routes.ts";
import { tell } from "./alerts/make-alerts.ts";
import { alertOperatorRoutes } from "./alerts/operator-routes.ts";
import { clientApi, operatorApi, playerApi } from "./api-descriptions.ts";
import { nameAuthor } from "./audit/name-author.ts";
import { auditOperatorRoutes } from "./audit/operator-routes.ts";
import { billingLogOperatorRoutes } from "./billing-log/operator-routes.ts";
import { billingLogRoutes } from "./billing-log/routes.ts";
import {
  type ApiTokens,
  authenticateRequest,
  countRequest,
  openRateLimits,
  type RateLimitSettings,
} from "./bots/authenticate-client.ts";
import { type Bots, requireBots } from "./bots/bots.ts";
import { botOperatorRoutes, tokenOperatorRoutes } from "./bots/operator-routes.ts";
import { currencyOperatorRoutes } from "./campaigns/currency.ts";
import { campaignOperatorRoutes } from "./campaigns/operator-routes.ts";
import { campaignReviewOperatorRoutes } from "./campaigns/review-operator-routes.ts";
import { cardClientRoutes } from "./cards/client-routes.ts";
import { cardRoutes } from "./cards/routes.ts";
import { openClicks } from "./clicks/follow-direct-link.ts";
import { linkAddress } from "./clicks/link-address.ts";
import { directLinkRoutes } from "./clicks/routes.ts";
import { type CodeLinks, codeClientRoutes } from "./codes/client-routes.ts";
import { openCodes } from "./codes/issue-code.ts";
import type { Config } from "./config.ts";
import { consolePageRoutes } from "./console-page/routes.ts";
import { conversionOperatorRoutes } from "./conversions/operator-routes.ts";
import { conversionRoutes } from "./conversions/routes.ts";
import type { BucketStorage } from "./creatives/bucket-storage.ts";
import { openFfmpeg } from "./creatives/ffmpeg.ts";
import type { FolderStorage } from "./creatives/media-storage.ts";
import { creativeOperatorRoutes } from "./creatives/operator-routes.ts";
import { resumableUploads } from "./creatives/resumable-uploads.ts";
import { mediaRoutes } from "./creatives/routes.ts";
import { webhookClientRoutes } from "./deliveries/client-routes.ts";
import type { EndpointTests } from "./deliveries/endpoint-tests.ts";
import type { Deliveries } from "./deliveries/enqueue-webhook.ts";
import { deliveryOperatorRoutes } from "./deliveries/operator-routes.ts";
import { boughtCreativeOperatorRoutes } from "./demand/bought-creative-routes.ts";
import { type Demand, openDemand } from "./demand/demand.ts";
import { buyerOperatorRoutes } from "./demand/operator-routes.ts";
import { eventClientRoutes } from "./events/client-routes.ts";
import { eventOperatorRoutes } from "./events/operator-routes.ts";
import { requireBuiltPage } from "./miniapp-page/built-page.ts";
import { errorPage } from "./miniapp-page/friendly-page.ts";
import { miniappPageRoutes } from "./miniapp-page/routes.ts";
import { creditGate } from "./money/credit-gate.ts";
import { heldPaymentOperatorRoutes } from "./money/held-payment-routes.ts";
import { moneyOperatorRoutes } from "./money/operator-routes.ts";
import { partyOperatorRoutes } from "./money/party-routes.ts";
import { standardProvider } from "./money/payment-provider.ts";
import { payoutRunOperatorRoutes } from "./money/payout-run-routes.ts";
import { moneyRequestOperatorRoutes } from "./money/request-routes.ts";
import { paymentRoutes } from "./money/routes.ts";
import { advertiserStandings } from "./money/terms.ts";
import { type NoticeSettings, sendMail } from "./notices/messages.ts";
import { noticeOperatorRoutes } from "./notices/operator-routes.ts";
import { sourceOrderOperatorRoutes } from "./offers/operator-routes.ts";
import type { Sources } from "./offers/source-records.ts";
import { ordOperatorRoutes } from "./ord/operator-routes.ts";
import { downloadVideo, type GuardedRequests } from "./outbound/guarded-request.ts";
import { accountOperatorRoutes } from "./people/account-operator-routes.ts";
import { consoleAddress, consoleOrigins } from "./people/console-address.ts";
import {
  actorOf,
  authenticateOperator,
  authorizeOperator,
  needsSignIn,
  type OperatorGuard,
  ownerOf,
  reportReaderOf,
  sessionOf,
  signedInOf,
  submitterOf,
} from "./people/guard.ts";
import type { SendLink } from "./people/mail-link.ts";
import { peopleOperatorRoutes } from "./people/operator-routes.ts";
import { openSignIns } from "./people/sign-in.ts";
import { type OpenIdProviderSettings, openIdProviders } from "./people/sign-in-methods/openid-providers.ts";
import { signInMethodOperatorRoutes } from "./people/sign-in-methods/operator-routes.ts";
import { clickOperatorRoutes } from "./reviews/click-operator-routes.ts";
import type { ReleaseClickDeps } from "./reviews/review-clicks.ts";
import { viewOperatorRoutes } from "./reviews/view-operator-routes.ts";
import { sampleOperatorRoutes } from "./sample/operator-routes.ts";
import { savedReportOperatorRoutes } from "./saved-reports/operator-routes.ts";
import { unsubscribeRoutes } from "./saved-reports/unsubscribe-page.ts";
import { statsClientRoutes } from "./statistics/client-routes.ts";
import { statsOperatorRoutes } from "./statistics/operator-routes.ts";
import { removeFromSums } from "./statistics/remove-from-sums.ts";
import type { ReportSource } from "./statistics/report-source.ts";
import { rollUpStatistics } from "./statistics/roll-up-statistics.ts";
import { statusOperatorRoutes } from "./status/operator-routes.ts";
import { supplyRoutes } from "./supply/routes.ts";
import type { TaskBotCalls } from "./tasks/bot-api.ts";
import { taskClientRoutes } from "./tasks/client-routes.ts";
import { taskOperatorRoutes } from "./tasks/operator-routes.ts";
import { taskPlayerRoutes } from "./tasks/player-routes.ts";
import { taskRoutes } from "./tasks/routes.ts";
import { startPostbackRoutes } from "./tasks/start-routes.ts";
import { taskUpdateRoutes } from "./tasks/update-routes.ts";
import { userOperatorRoutes } from "./users/operator-routes.ts";
import { openTags } from "./vast/fill-from-tag.ts";
import { openTurns, type Turns } from "./vast/read-xml.ts";
import { faultOfTag, tryTag } from "./vast/try-tag.ts";
import type { CountrySource } from "./viewers/country-source.ts";
import { adClickRoutes } from "./views/ad-click-routes.ts";
import { availabilityClientRoutes } from "./views/client-routes.ts";
import { blockOfViewer } from "./views/describe-availability.ts";
import { adRows, findCandidateAd } from "./views/find-ad.ts";
import { viewPlayerRoutes } from "./views/player-routes.ts";
import { type LaunchKeys, launchKeysOf } from "./views/verify-launch.ts";
import type { Views } from "./views/views.ts";

const documents = [
  { title: "Client API", path: "/client/v1/openapi.json" },
  { title: "Player API", path: "/player/v1/openapi.json" },
  { title: "Operator API", path: "/operator/v1/openapi.json" },
];

export interface AppDeps {
  config: Omit<Config, "currency">;
  /** The currency of all amounts (ISO 4217). */
  currency: string;
  /** Of this build. */
  version?: string;
  logger: Logger;
  database: Database;
  reports: ReportSource;
  makePartitions: ReleaseClickDeps["makePartitions"];
  media: FolderStorage | BucketStorage;
  bots: Bots;
  apiTokens: ApiTokens;
  secretBox: SecretBox;
  campaigns: CampaignSnapshot;
  /** Undefined: none is configured. */
  countrySource?: CountrySource | undefined;
  deliveries: Deliveries;
  views: Views;
  sources?: Sources;
  endpointTests: EndpointTests;
  requests: GuardedRequests;
  /** Whether a connection uses the operator's socket in the data folder. */
  isControlSocket: (socket: object) => boolean;
  registry: Registry;
  /** Whether this process is shutting down. */
  isStopping?: () => boolean;
  now?: () => Date;
  /** Throws `NotReady` where the operator has to act before this node can serve. */
  requirement?: () => void;
  /** What `/readyz` says beside "ready". */
  warning?: () => string | undefined;
}

export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, logger, currency, database, media, bots, campaigns, deliveries, requests, registry, countrySource } =
    deps;
  const { now = () => new Date() } = deps;
  const { publicUrl, miniappDir, encryptionKey, previousEncryptionKey, demo } = config;
  const { trustProxy, maxDailyClicksPerAddress, directLinkUrl } = config;
  const app = createHttpServer({ logger, trustProxy, unavailabilityOf, errorPage, rewriteUrl: linkAddress });
  if (isScraped(config.metrics)) countRequests(app, registry);
  if (config.tracing !== undefined) traceRequests(app, { continuedRoutes: [] });

  const tasks = { telegramApiUrl: config.notices.telegramApiUrl, log: logger };
  nodeRoutes(app, deps);
  const isPlainHttpAllowed = config.mode === "demo";
  const turns = openTurns();
  const tags = openTags({ database, requests, isPlainHttpAllowed, turns, log: logger, now, registry });
  const demand = openDemand({
    database,
    requests,
    secretBox: deps.secretBox,
    seller: { publicUrl, currency },
    log: logger,
  });
  const ofClients = { ...tasks, demand, isPlainHttpAllowed, rateLimits: config.rateLimits };
  clientApiRoutes(app, { ...deps, ...ofClients, publicUrl, links: config, now });
  app.register(async (surface) => {
    await describeApi(surface, playerApi(publicUrl));
    const launchKeysFor = launchKeysBy(config);
    viewPlayerRoutes(surface, { ...deps, tags, demand, launchKeysFor, publicUrl, now });
    taskPlayerRoutes(surface, { ...deps, ...tasks, launchKeysFor, publicUrl, now });
    adClickRoutes(surface, { database, now });
  });
  conversionRoutes(app, { database, currency, now });
  const { paymentWebhookSecret } = config;
  const providers = paymentWebhookSecret === undefined ? [] : [standardProvider(paymentWebhookSecret)];
  paymentRoutes(app, { database, providers, currency, campaigns, now });
  const clicks = openClicks({ database, bots, campaigns, deliveries, maxDailyClicksPerAddress, log: logger });
  directLinkRoutes(app, { clicks, countrySource, encryptionKey, previousEncryptionKey, directLinkUrl, now });
  taskRoutes(app, { ...deps, ...tasks, publicUrl, now });
  cardRoutes(app, { database, publicUrl, now });
  startPostbackRoutes(app, { ...deps, ...tasks, now });
  taskUpdateRoutes(app, { ...deps, ...tasks, now });
  mediaRoutes(app, { media });
  supplyRoutes(app, { database, publicUrl });
  billingLogRoutes(app, { database, media });
  unsubscribeRoutes(app, { database });
  const ads = adRows(database);
  miniappPageRoutes(app, {
    database,
    bots,
    miniappDir,
    publicUrl,
    isPlainHttpAllowed,
    demoChatOrigin: demo.chatOrigin,
    findVideo: (of) => findCandidateAd({ campaigns, ads, publicUrl }, { ...of, now: now() }),
  });
  consolePageRoutes(app, config);
  app.register(async (surface) => {
    await describeApi(surface, operatorApi(publicUrl));
    operatorRoutes(surface, {
      ...deps,
      ...tasks,
      hasCountries: config.countries.kind !== "none",
      settings: config.settings,
      miniappUrl: config.miniappUrl,
      publicUrl,
      isPlainHttpAllowed,
      turns,
      isTrusted: (request) => deps.isControlSocket(request.raw.socket),
      operatorToken: config.operatorToken,
      openIdProviders: config.openIdProviders,
      retention: config.retention,
      notices: config.notices,
      now,
    });
  });

  await app.after();
  refuseOtherMethods(app);
  return app;
}

/** What operators and their tools ask a node: its health, its metrics, the reference of its APIs. */
function nodeRoutes(app: FastifyInstance, { config, database, registry, ...deps }: AppDeps): void {
  healthRoutes(app, {
    check: () => requireDatabase(database),
    requirement: async () => {
      deps.requirement?.();
      await requireBuiltPage(config);
    },
    warning: deps.warning,
    isStopping: deps.isStopping,
    version: deps.version,
    withinMs: config.databaseLimits.silentMs,
    registry,
  });
  if (config.metrics.token !== undefined) metricsRoutes(app, { registry, token: config.metrics.token });
  if (config.hasApiReference) serveApiReference(app, { title: "Intermission: ad service", documents });
}

/** The keys that sign a bot's launch data: Telegram's; of the demo's own bot, those of its simulated Telegram. */
function launchKeysBy({ telegramServers, demo }: AppDeps["config"]): (botId: string) => LaunchKeys {
  const keysOfTelegram = launchKeysOf(telegramServers);
  const keysOfDemo = demo.telegramPublicKey ? { accepted: publicKeyOf(demo.telegramPublicKey) } : keysOfTelegram;
  return (botId) => (botId === demo.botId ? keysOfDemo : keysOfTelegram);
}

/**
 * The operator's routes alone, for a command line that opened the store itself. They need no token: opening the store
 * proves access.
 */
export function createOperatorApp(deps: Omit<OperatorDeps, keyof OperatorAuth | "turns"> & { logger: Logger }) {
  const app = createHttpServer({ logger: deps.logger, trustProxy: false, unavailabilityOf });
  operatorRoutes(app, { ...deps, turns: openTurns(), isTrusted: () => true, operatorToken: undefined });
  return app;
}

interface ClientApiDeps extends TaskBotCalls {
  database: Database;
  reports: ReportSource;
  apiTokens: ApiTokens;
  campaigns: CampaignSnapshot;
  demand: Demand;
  isPlainHttpAllowed: boolean;
  deliveries: Deliveries;
  endpointTests: EndpointTests;
  registry: Registry;
  rateLimits: RateLimitSettings;
  log: Logger;
  /** The currency of all prices (ISO 4217). */
  currency: string;
  publicUrl: string;
  links: CodeLinks;
  now: () => Date;
}

/** `/client/v1`: the API for publishers. */
export function clientApiRoutes(app: FastifyInstance, deps: ClientApiDeps): void {
  app.register(async (surface) => {
    await describeApi(surface, clientApi(deps.publicUrl));
    const codes = openCodes(deps.database);
    surface.register(
      async (plain) => {
        const scope = checkRequests(plain);
        const limits = openRateLimits(deps.rateLimits);
        const wrongTokens = wrongTokenCounter(deps.registry);
        wrongTokens.inc({ setting: "api_token" }, 0);
        // Fastify parses text/plain too; this API accepts only JSON.
        scope.removeContentTypeParser("text/plain");
        scope.decorateRequest("caller", undefined);
        scope.addHook("onRequest", async (request, reply) => {
          reply.header("cache-control", "no-store");
          countRequest(limits, reply, await authenticateRequest({ ...deps, wrongTokens }, request, deps.now()));
        });
        codeClientRoutes(scope, { ...deps, codes, limits });
        availabilityClientRoutes(scope, deps);
        eventClientRoutes(scope, deps);
        statsClientRoutes(scope, deps);
        webhookClientRoutes(scope, deps);
        taskClientRoutes(scope, { ...deps, limits });
        cardClientRoutes(scope, { ...deps, limits });
      },
      { prefix: "/client/v1" },
    );
  });
}

/** What a node, or a command line that opened the store itself, gives to the operator's routes. */
interface OperatorDeps extends OperatorAuth, TaskBotCalls {
  database: Database;
  reports: ReportSource;
  makePartitions: ReleaseClickDeps["makePartitions"];
  media: FolderStorage | BucketStorage;
  bots: Bots;
  apiTokens: ApiTokens;
  secretBox: SecretBox;
  campaigns: CampaignSnapshot;
  deliveries: Deliveries;
  endpointTests: EndpointTests;
  requests: GuardedRequests;
  /** Of requests for VAST tags. */
  turns: Turns;
  currency: string;
  /** Whether a source of countries is configured. */
  hasCountries: boolean;
  isPlainHttpAllowed: boolean;
  publicUrl: string;
  miniappUrl: string;
  retention: Config["retention"];
  /** How messages to people are sent; a command line sends none. */
  notices?: NoticeSettings | undefined;
  /** Of the node; a command line has none. */
  settings?: Config["settings"];
  now: () => Date;
}

interface OperatorAuth {
  /** Whether the request came through the socket in the data folder, which only the server's own user can open. */
  isTrusted: (request: FastifyRequest) => boolean;
  /** Without one, only trusted requests reach the operator's API; others get 404. */
  operatorToken: string | undefined;
  /** For people who sign in; a command line that opened the store itself has none. */
  openIdProviders?: readonly OpenIdProviderSettings[];
  registry?: Registry;
}

function openIdOf({ openIdProviders: providers = [], publicUrl }: OperatorDeps) {
  return openIdProviders(providers, `${consoleAddress(publicUrl)}/openid`);
}

function linkSender(notices: NoticeSettings | undefined): SendLink {
  return notices?.smtpUrl === undefined ? undefined : (mail) => sendMail(notices, mail);
}

function operatorGuard({
  database,
  isTrusted,
  operatorToken: token,
  registry,
  publicUrl,
  now,
}: OperatorDeps): OperatorGuard {
  return {
    database,
    isTrusted,
    now,
    guardToken: token === undefined ? undefined : guardToken({ token, setting: "OPERATOR_TOKEN", registry }),
    wrongCookies: rateLimiter({ quota: 20, windowSeconds: 60, maxKeys: 10_000 }),
    origins: consoleOrigins(publicUrl),
  };
}

/** `/operator/v1`: the API of the operator's command line. */
function operatorRoutes(app: FastifyInstance, deps: OperatorDeps): void {
  const { database, now } = deps;
  const guard = operatorGuard(deps);
  app.register(
    async (plain) => {
      const scope = checkRequests(plain, parseOperatorRequest);
      compressAnswers(plain);
      scope.decorateRequest("operator", undefined);
      scope.decorateRequest("author", undefined);
      scope.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        try {
          request.operator = await authenticateOperator(guard, request);
        } catch (error) {
          if (!needsSignIn(request, error)) throw error;
          return reply.redirect(consoleAddress(deps.publicUrl), 302);
        }
      });
      scope.addHook("preHandler", (request) => authorizeOperator(guard, request));
      scope.addHook("preHandler", async (request) => nameAuthor(request, actorOf(request)));
      // Functions of other features, which a feature may not import.
      const crossFeature = {
        requireBots: (botIds: readonly (string | undefined)[]) => requireBots(database, botIds),
        requireAdvertiser: (nameOrId: string) => requireAdvertiser(database, nameOrId),
        standingsOf: (advertiserIds: readonly string[]) => advertiserStandings(database, advertiserIds),
        submitterOf,
        reportReaderOf,
        ownerOf: (request: FastifyRequest, email: string | undefined) => ownerOf(deps, request, email),
      };
      const ffmpeg = openFfmpeg();
      botOperatorRoutes(scope, { ...deps, ...crossFeature, ffmpeg });
      tokenOperatorRoutes(scope, deps);
      creativeOperatorRoutes(scope, {
        ...deps,
        ...crossFeature,
        ffmpeg,
        downloadVideo: (video) => downloadVideo(deps.requests, video),
        faultOfTag: (url) => faultOfTag(deps, { url, now }),
        tryTag: (url) => tryTag(deps, { url, now }),
        resumable: resumableUploads(deps.database, deps.media.uploadsFolder),
        callerOf: (request) => actorOf(request)?.id ?? "",
      });
      campaignOperatorRoutes(scope, { ...deps, ...crossFeature });
      campaignReviewOperatorRoutes(scope, { ...deps, tell });
      buyerOperatorRoutes(scope, deps);
      boughtCreativeOperatorRoutes(scope, deps);
      sourceOrderOperatorRoutes(scope, deps);
      currencyOperatorRoutes(scope, deps);
      advertiserOperatorRoutes(scope, { ...deps, credit: creditGate });
      moneyOperatorRoutes(scope, { ...deps, ...crossFeature });
      heldPaymentOperatorRoutes(scope, deps);
      moneyRequestOperatorRoutes(scope, { ...deps, tell, callerOf: signedInOf });
      billingLogOperatorRoutes(scope, { ...deps, ...crossFeature });
      partyOperatorRoutes(scope, { ...deps, ...crossFeature });
      payoutRunOperatorRoutes(scope, deps);
      ordOperatorRoutes(scope, deps);
      explainOperatorRoutes(scope, { ...deps, blockOf: (viewer) => blockOfViewer(deps.database, viewer) });
      eventOperatorRoutes(scope, deps);
      deliveryOperatorRoutes(scope, deps);
      noticeOperatorRoutes(scope, { ...deps, ...crossFeature });
      viewOperatorRoutes(scope, deps);
      clickOperatorRoutes(scope, deps);
      conversionOperatorRoutes(scope, deps);
      taskOperatorRoutes(scope, { ...deps, ...crossFeature });
      statsOperatorRoutes(scope, { ...deps, ...crossFeature });
      savedReportOperatorRoutes(scope, { ...deps, ...crossFeature });
      userOperatorRoutes(scope, deps);
      const signIns = openSignIns(deps);
      const sendLink = linkSender(deps.notices);
      peopleOperatorRoutes(scope, { ...deps, signIns, sendLink });
      signInMethodOperatorRoutes(scope, { ...deps, signIns, openId: openIdOf(deps) });
      accountOperatorRoutes(scope, { ...deps, signIns, sendLink });
      alertOperatorRoutes(scope, { ...deps, personOf: (request) => sessionOf(request).person });
      auditOperatorRoutes(scope, deps);
      statusOperatorRoutes(scope, { ...deps, replica: deps.reports.replica });
      sampleOperatorRoutes(scope, { ...deps, rollUpStatistics: () => rollUpStatistics(database), removeFromSums });
    },
    { prefix: "/operator/v1" },
  );
}
