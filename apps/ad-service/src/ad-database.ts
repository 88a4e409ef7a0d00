import type { Database, Transaction } from "@intermission/postgres/open-database";
import type { ViewerTables } from "./ad-selection/schema.ts";
import type { ConversionTables } from "./advertisers/schema.ts";
import type { BotTables } from "./bots/schema.ts";
import type { CampaignTables } from "./campaigns/schema.ts";
import type { DirectLinkTables } from "./clicks/schema.ts";
import type { CodeTables } from "./codes/schema.ts";
import type { CreativeTables } from "./creatives/schema.ts";
import type { WebhookDeliveryTables } from "./deliveries/schema.ts";
import type { StatisticsTables } from "./statistics/schema.ts";
import type { VastTables } from "./vast/schema.ts";
import type { AdClickTables } from "./views/cta-click-schema.ts";
import type { AdSessionTables } from "./views/schema.ts";

export type AdTables = BotTables &
  CodeTables &
  CreativeTables &
  CampaignTables &
  ViewerTables &
  AdSessionTables &
  DirectLinkTables &
  StatisticsTables &
  VastTables &
  AdClickTables &
  ConversionTables &
  WebhookDeliveryTables;

export type AdDatabase = Database<AdTables>;
export type AdTransaction = Transaction<AdTables>;
