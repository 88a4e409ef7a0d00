import { initDataOf, playedRanges, ScriptedViewer } from "./scripted-viewer.ts";
import { expect, expectNeverPaid, expectPaidOnce, newCode, test } from "./stack.ts";

const clipMs = 2000;

type Reported = Awaited<ReturnType<ScriptedViewer["report"]>>;
/** Of the service, when it answered. */
const timeOf = ({ body }: Reported) => Date.parse(body.server_time);

test("seeking, 4× speed, hidden playback and forged reports pay nothing", async ({ api, stack, userId }) => {
  const viewer = new ScriptedViewer(stack.urls.adService);
  const watch = async (
    user: string,
    cheat: (token: string, sessionId: string, durationMs: number) => Promise<Reported | undefined>,
  ): Promise<void> => {
    const { code } = await newCode(api, user);
    // The service credits time from the opening on, however late it learns of the start.
    const openedAt = Date.now();
    const { body } = await viewer.open(stack.secrets.botId, initDataOf(user, stack.secrets), code);
    if (body.outcome !== "session") throw new Error(body.outcome);
    await viewer.report(body.session_id, { token: body.token, reports: [], started: true });
    const reported = await cheat(body.token, body.session_id, body.ad.duration_ms);
    // On a busy machine the reports may arrive as late as honest ones: then another user tries. The service forgives half of a
    // clip of two seconds (SLACK_MS).
    const isInTime = reported === undefined || timeOf(reported) - openedAt < body.ad.duration_ms * 0.45;
    if (isInTime) await expectNeverPaid(api, user);
    else await watch(`${user}0`, cheat);
  };
  await Promise.all([
    // Jumps to the end immediately.
    watch(userId, async (token, id, durationMs) => {
      const reports = [{ sequence: 0, from_ms: durationMs - 500, to_ms: durationMs, visible: true, muted: true }];
      await viewer.report(id, { token, reports, closed: "tap" });
      return undefined;
    }),
    // Plays four times as fast as the clock.
    watch(`${userId}1`, async (token, id, durationMs) => {
      await new Promise((resolve) => setTimeout(resolve, durationMs / 4));
      return viewer.report(id, { token, reports: playedRanges(durationMs), closed: "tap" });
    }),
    // Plays in real time, but in the background.
    watch(`${userId}2`, async (token, id, durationMs) => {
      await new Promise((resolve) => setTimeout(resolve, durationMs));
      const reports = playedRanges(durationMs).map((report) => ({ ...report, visible: false }));
      await viewer.report(id, { token, reports, closed: "tap" });
      return undefined;
    }),
    // Uses a forged token.
    watch(`${userId}3`, async (token, id, durationMs) => {
      await new Promise((resolve) => setTimeout(resolve, durationMs));
      const forged = await viewer.report(id, {
        token: `${token.slice(0, -4)}AAAA`,
        reports: playedRanges(durationMs),
        closed: "tap",
      });
      expect([401, 409]).toContain(forged.status);
      return undefined;
    }),
  ]);
});

test("another user's code is refused", async ({ api, stack, userId }) => {
  const { code } = await newCode(api, userId);
  const viewer = new ScriptedViewer(stack.urls.adService);
  const { status, body } = await viewer.open(stack.secrets.botId, initDataOf(`${userId}9`, stack.secrets), code);
  expect(status).toBe(403);
  expect(body).toMatchObject({ error: { code: "CODE_OF_ANOTHER_USER" } });
});

test("init data that was tampered with is refused", async ({ stack, userId }) => {
  const viewer = new ScriptedViewer(stack.urls.adService);
  const initData = initDataOf(userId, stack.secrets).replace(userId, `${userId}7`);
  const { status, body } = await viewer.open(stack.secrets.botId, initData);
  expect(status).toBe(401);
  expect(body).toMatchObject({ error: { code: "INIT_DATA_INVALID" } });
});

test("two devices and a replayed session pay once", async ({ api, stack, userId }) => {
  const viewer = new ScriptedViewer(stack.urls.adService);
  const { code } = await newCode(api, userId);
  const initData = initDataOf(userId, stack.secrets);
  const first = await viewer.open(stack.secrets.botId, initData, code);
  if (first.body.outcome !== "session") throw new Error(first.body.outcome);
  const second = await viewer.open(stack.secrets.botId, initData, code);
  if (second.body.outcome !== "session") throw new Error(second.body.outcome);
  expect(second.body.session_id).toBe(first.body.session_id);
  const superseded = await viewer.report(first.body.session_id, {
    token: first.body.token,
    reports: [],
    started: true,
  });
  expect(superseded).toMatchObject({ status: 409, body: { error: { code: "SUPERSEDED" } } });

  const { session_id: id, token, first_sequence: firstSequence } = second.body;
  await viewer.report(id, { token, reports: [], started: true });
  await new Promise((resolve) => setTimeout(resolve, clipMs));
  const end = { token, reports: playedRanges(second.body.ad.duration_ms, 0, firstSequence), closed: "tap" as const };
  const answers = await Promise.all(Array.from({ length: 8 }, () => viewer.report(id, end)));
  expect(answers.filter((answer) => answer.status === 200).length).toBeGreaterThan(0);
  const again = await viewer.open(stack.secrets.botId, initData, code);
  expect(again.body).toMatchObject({ outcome: "session", state: "rewarded" });
  await expectPaidOnce(api, userId, "rewarded");
});

test("a webhook that is captured and sent again pays once", async ({ api, stack, userId }) => {
  const viewer = new ScriptedViewer(stack.urls.adService);
  const { code } = await newCode(api, userId);
  const { body } = await viewer.open(stack.secrets.botId, initDataOf(userId, stack.secrets), code);
  if (body.outcome !== "session") throw new Error(body.outcome);
  await viewer.report(body.session_id, { token: body.token, reports: [], started: true });
  await new Promise((resolve) => setTimeout(resolve, clipMs));
  const reports = playedRanges(body.ad.duration_ms, 0, body.first_sequence);
  await viewer.report(body.session_id, { token: body.token, reports, closed: "tap" });
  await expectPaidOnce(api, userId, "rewarded");

  const captured = (await api.latestReceipts()).find((receipt) => receipt.rawBody?.includes(`"code":"${code}"`));
  if (!captured?.rawBody || !captured.signatureHeader) throw new Error("the receipt has no raw webhook");
  const { rawBody, signatureHeader } = captured;
  const replay = () =>
    fetch(`${stack.urls.api}/webhooks/ads`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-bot-id": stack.secrets.botId, "x-signature": signatureHeader },
      body: rawBody,
    });
  const answers = await Promise.all(Array.from({ length: 8 }, replay));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  await expectPaidOnce(api, userId, "rewarded");
  expect(await api.listRewards(userId)).toHaveLength(1);
  expect(await api.balance(userId)).toBe(10);
});
