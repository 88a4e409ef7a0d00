import type {
  DescribeCodeResponse,
  NamedRewards as NamedRewardsOnWire,
  ReferenceStatsResponse,
  StatsResponse,
} from "@intermission/ad-core/client-api";
import { expectTypeOf, test } from "vitest";
import type { CodeDescription, NamedRewards, ReferenceStats, Stats } from "./client-answers.ts";

// Checked by tsc. The package's public types do not name those of ad-core, which need zod.
test("the types of answers are those of the wire", () => {
  expectTypeOf<CodeDescription>().toEqualTypeOf<DescribeCodeResponse>();
  expectTypeOf<NamedRewards>().toEqualTypeOf<NamedRewardsOnWire>();
  expectTypeOf<Omit<Stats, "rows">>().toEqualTypeOf<Omit<StatsResponse, "rows">>();
  expectTypeOf<Omit<ReferenceStats, "rows">>().toEqualTypeOf<Omit<ReferenceStatsResponse, "rows">>();
  expectTypeOf<ReferenceStatsResponse["rows"]>().toExtend<ReferenceStats["rows"]>();
  expectTypeOf<StatsResponse["rows"]>().toExtend<Stats["rows"]>();
  expectTypeOf<Stats["rows"]>().toExtend<StatsResponse["rows"]>();
});
