import type { Migrations } from "@intermission/postgres/migrate";
import { migration as tables } from "./migrations/0001-tables.ts";
import { migration as receipts } from "./migrations/0002-receipts.ts";
import { migration as bookEvents } from "./migrations/0003-book-events.ts";
import { migration as commitEpochs } from "./migrations/0015-commit-epochs.ts";
import { migration as erasure } from "./migrations/0017-erasure.ts";

export const migrations: Migrations = {
  "0001-tables": tables,
  "0002-receipts": receipts,
  "0003-book-events": bookEvents,
  "0015-commit-epochs": commitEpochs,
  "0017-erasure": erasure,
};
