import type { Migrations } from "@intermission/postgres/migrate";
import { migration as tables } from "./0001-tables.ts";
import { migration as endpoints } from "./0002-endpoints.ts";
import { migration as hotKeys } from "./0003-hot-keys.ts";
import { migration as advertising } from "./0004-advertising.ts";
import { migration as statistics } from "./0006-statistics.ts";
import { migration as vast } from "./0007-vast.ts";
import { migration as creativeFiles } from "./0008-creative-files.ts";
import { migration as faultsAndTaps } from "./0009-faults-and-taps.ts";
import { migration as fewerWrites } from "./0010-fewer-writes.ts";
import { migration as bulkReplays } from "./0011-bulk-replays.ts";
import { migration as cheaperKeys } from "./0012-cheaper-keys.ts";
import { migration as directLinkAbuse } from "./0014-direct-link-abuse.ts";
import { migration as commitEpochs } from "./0015-commit-epochs.ts";
import { migration as namesAndErasure } from "./0017-names-and-erasure.ts";
import { migration as oneClock } from "./0018-one-clock.ts";

export const allMigrations: Migrations = {
  "0001-tables": tables,
  "0002-endpoints": endpoints,
  "0003-hot-keys": hotKeys,
  "0004-advertising": advertising,
  "0006-statistics": statistics,
  "0007-vast": vast,
  "0008-creative-files": creativeFiles,
  "0009-faults-and-taps": faultsAndTaps,
  "0010-fewer-writes": fewerWrites,
  "0011-bulk-replays": bulkReplays,
  "0012-cheaper-keys": cheaperKeys,
  "0014-direct-link-abuse": directLinkAbuse,
  "0015-commit-epochs": commitEpochs,
  "0017-names-and-erasure": namesAndErasure,
  "0018-one-clock": oneClock,
};
