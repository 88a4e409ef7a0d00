import { randomBytes } from "node:crypto";
import { createCodeResponse } from "@intermission/ad-core/client-api";
import { newEventId } from "@intermission/ad-core/code";
import { fakeAdService } from "@intermission/publisher/testing";
import { companionContract } from "@intermission/testing/companion-contract";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect } from "vitest";
import { migrations } from "../src/migrations.ts";
import { startTestApi, testConfig } from "./fixtures/api-fixture.ts";

companionContract("the companion API", async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const adService = fakeAdService();
  const users = new Map<string, { userId: string; reference: string | undefined }>();
  const api = await startTestApi(
    store.database,
    {},
    {
      async createCode(request) {
        const answer = await adService.fetch(`${adService.url}/client/v1/codes`, {
          method: "POST",
          headers: { authorization: `Bearer ${adService.token}`, "content-type": "application/json" },
          body: JSON.stringify(request),
        });
        const code = createCodeResponse.parse(await answer.json());
        users.set(code.code, { userId: request.user_tg_id, reference: request.reference });
        return { outcome: "issued", code };
      },
    },
  );
  async function deliver(fields: object): Promise<void> {
    const event_id = newEventId(Date.now(), randomBytes(10));
    const { status } = await api.deliver({ event_id, bot_id: testConfig.botId, ...fields });
    expect(status).toBe(200);
  }
  return {
    url: api.url,
    apiKey: testConfig.backendApiKey,
    botId: testConfig.botId,
    async earn(code, event, { startParam } = {}) {
      const { userId, reference } = users.get(code) ?? {};
      await deliver({ event, user_tg_id: userId, code, reference, start_param: startParam });
    },
    earnTask: (event, { userId, code }) => deliver({ event, user_tg_id: userId, code }),
    sendTest: () => deliver({ event: "rewarded", user_tg_id: "0", test: true }),
    async close() {
      await api.stop();
      await store.dispose();
    },
  };
});
