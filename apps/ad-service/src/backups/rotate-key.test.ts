import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { secretBox } from "@intermission/server/secret-box";
import { askServer } from "@intermission/testing/copy-database";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { openCliFixture } from "../../test/fixtures/cli-fixture.ts";
import { migrations } from "../migrations.ts";

test("after the rotation of ENCRYPTION_KEY the new key alone opens every token and sign-in secret, and the old one none", {
  tags: "long",
}, async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  const fixture = await openCliFixture();
  onTestFinished(async () => {
    await fixture.close();
    await store.dispose();
  });
  const [old, next] = [randomBytes(32), randomBytes(32)];
  const [oldKey, nextKey] = [old.toString("base64"), next.toString("base64")];
  const ads = (words: readonly string[], keys: NodeJS.ProcessEnv) =>
    fixture.ads(["--json", ...words], { MODE: "demo", DATABASE_URL: store.databaseUrl, ...keys });
  const added = await ads(["bots", "add", "--bot-id", "7000000001", "--name", "Bot"], { ENCRYPTION_KEY: oldKey });
  const { token } = JSON.parse(added.out);
  await ads(["people", "add", "ann@example.com", "--role", "owner"], { ENCRYPTION_KEY: oldKey });

  const rotate = ["rotate-encryption-key"];
  expect((await ads(rotate, { ENCRYPTION_KEY: nextKey })).err).toMatch(/PREVIOUS_ENCRYPTION_KEY is missing: set it to/);
  const same = await ads(rotate, { ENCRYPTION_KEY: oldKey, PREVIOUS_ENCRYPTION_KEY: oldKey });
  expect(same.err).toMatch(/PREVIOUS_ENCRYPTION_KEY is the same as ENCRYPTION_KEY/);
  const both = { ENCRYPTION_KEY: nextKey, PREVIOUS_ENCRYPTION_KEY: oldKey };
  // As a node does meanwhile.
  await ads(["tokens", "create", "--bot-id", "7000000001"], both);
  expect((await ads(["export", join(fixture.dataDir, "export")], both)).err).toMatch(/end the rotation first/);
  expect(JSON.parse((await ads(rotate, both)).out)).toEqual({ current: 1, previous: 2, unreadable: [] });
  expect(JSON.parse((await ads(rotate, both)).out)).toEqual({ current: 3, previous: 0, unreadable: [] });

  const [box, oldBox] = [secretBox(next), secretBox(old)];
  const sealed = await askServer(
    store.databaseUrl,
    `select bot_id as owner, ciphertext as secret from ad_service.bot_tokens
     union all select person_id, totp_secret from ad_service.people`,
  );
  expect(sealed).toHaveLength(3);
  const opened = sealed.map(({ owner, secret }) => box.open(secret as Buffer, String(owner)));
  expect(opened).toContain(token);
  for (const { owner, secret } of sealed) expect(() => oldBox.open(secret as Buffer, String(owner))).toThrow();
  expect((await ads(["bots", "list"], { ENCRYPTION_KEY: nextKey })).code).toBe(0);
  expect((await ads(["bots", "list"], { ENCRYPTION_KEY: oldKey })).err).toMatch(/ENCRYPTION_KEY is not the key/);
});
