import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../migrations.ts";
import { missingPrivacyPolicies } from "./missing-privacy-policies.ts";

test("the start names bots without a privacy policy, with the command that sets one", async () => {
  const { database, dispose } = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(dispose);
  const run = (text: string) => database.run({ name: "", text }, []);
  expect(await missingPrivacyPolicies(database)).toBeUndefined();
  await run(
    `insert into bots (bot_id, code_prefix, name, created_at, updated_at)
     select '70' || number, 'aaa' || number, 'Bot', now(), now() from generate_series(1, 4) as number`,
  );
  expect(await missingPrivacyPolicies(database)).toMatch(
    /^no privacy policy is set for 701, 702, 703 and others:.* --privacy-url <address>$/,
  );
  await run("update bots set privacy_url = 'https://garden.example/privacy' where bot_id <> '702'");
  expect(await missingPrivacyPolicies(database)).toMatch(/ is set for 702: /);
  await run("update bots set is_suspended = true where bot_id = '702'");
  expect(await missingPrivacyPolicies(database)).toBeUndefined();
});
