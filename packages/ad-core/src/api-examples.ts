/** Examples of requests and answers for the API reference, by the names of their schemas. A test checks them. */

const botId = "7000000001";
const code = "7hKqM3xW9tRbZ2cN";
const eventId = "evt_0195f3c1-0c2a-7b3e-9d51-3f6c2a9e8b10";

const figures = {
  requests: 240,
  fills: 228,
  fill_rate: 0.95,
  no_fills: { "no-campaign": 12 },
  limited: { cooldown: 31 },
  requests_refused: { "code-used": 4 },
  starts: 220,
  first_quartiles: 214,
  midpoints: 209,
  third_quartiles: 205,
  completions: 201,
  completion_rate: 0.9136,
  closes: { tap: 190, "page-hidden": 11 },
  rewards: 201,
  views_held: {},
  views_refused: {},
  clicks: 17,
  clicks_refused: { machine: 3 },
  refunds: {},
  conversions: 2,
  revenue_micros: 1_688_400,
  ecpm_micros: 7_674_545,
};

export const clientExamples = {
  createCodeRequest: [{ bot_id: botId, user_tg_id: "42", reference: "order-17" }],
  createCodeResponse: [
    {
      code: code,
      expires_in: 3600,
      expires_at: "2026-03-01T13:00:00Z",
      direct_link: "https://rewards.example/7hKqM3xW9tRbZ2cN",
      miniapp_url: "https://rewards.example/app/7000000001?code=7hKqM3xW9tRbZ2cN",
    },
  ],
  errorEnvelope: [
    {
      error: {
        code: "BAD_REQUEST",
        message: "user_tg_id: must be a string of 1 to 20 digits, without leading zeros",
        details: [{ field: "user_tg_id", message: "must be a string of 1 to 20 digits, without leading zeros" }],
      },
    },
  ],
  describeCodeResponse: [
    {
      code: code,
      bot_id: botId,
      user_tg_id: "42",
      reference: "order-17",
      start_param: "ref_7",
      issued_at: "2026-03-01T12:00:00.000Z",
      expires_at: "2026-03-01T13:00:00.000Z",
      is_expired: false,
      earned: [
        {
          event: "rewarded",
          event_id: eventId,
          occurred_at: "2026-03-01T12:01:05.120Z",
        },
      ],
      can_earn: [],
      pay_per_code: "once",
      sessions: [
        {
          session_id: "ses_8Jd2",
          state: "rewarded",
          opened_at: "2026-03-01T12:00:30.000Z",
          watched_at: "2026-03-01T12:01:01.000Z",
          closed_at: "2026-03-01T12:01:05.120Z",
          accepted_ms: 30_000,
          duration_ms: 30_000,
          refusals: {},
        },
      ],
      clicks: {},
      requests: { filled: 1 },
    },
  ],
  availabilityResponse: [
    { available: true },
    { available: false, reason: "cooldown", available_at: "2026-03-01T12:10:00.000Z" },
  ],
  listEventsResponse: [
    {
      events: [
        {
          event_id: eventId,
          event: "rewarded",
          bot_id: botId,
          user_tg_id: "42",
          code: code,
          reference: "order-17",
          occurred_at: "2026-03-01T12:01:05.120Z",
          revenue_micros: 1750,
          currency: "USD",
          delivery: "delivered",
        },
      ],
      next: "MS40Mi4xNw",
      has_more: false,
    },
  ],
  statsResponse: [
    {
      currency: "USD",
      from: "2026-02-28T00:00:00.000Z",
      to: "2026-03-01T00:00:00.000Z",
      by: "day",
      counted_until: "2026-03-01T12:00:00.000Z",
      rows: [{ key: "2026-02-28", ...figures }],
      total: figures,
      deliveries: { delivered: 217, under_way: 0, failed: 1, success_rate: 0.9954 },
    },
  ],
  referenceStatsResponse: [
    {
      currency: "USD",
      from: "2026-02-22T00:00:00.000Z",
      to: "2026-03-01T00:00:00.000Z",
      by: "reference",
      reference_prefix: "shop-",
      rows: [
        { key: "shop-10-coins", rewards: 120, clicks: 4, users: 80, refunds: 0, revenue_micros: 214_200 },
        { key: "shop-5-coins", rewards: 97, clicks: 5, users: 71, refunds: 1, revenue_micros: 173_250 },
      ],
      total: { rewards: 217, clicks: 9, users: 133, refunds: 1, revenue_micros: 387_450 },
    },
  ],
  listAttemptsResponse: [
    {
      event_id: eventId,
      event: "rewarded",
      delivery: "waiting",
      explanation: "its next attempt is due at 2026-03-01T12:01:15.400Z",
      next_attempt_at: "2026-03-01T12:01:15.400Z",
      attempts: [
        {
          attempt: 1,
          started_at: "2026-03-01T12:01:05.180Z",
          url: "https://bot.example/webhooks/ads",
          status: 404,
          answer: "Not Found",
          advice: "Nothing is served at this path: compare the webhook address with your route.",
          total_ms: 61,
          next_at: "2026-03-01T12:01:15.400Z",
        },
      ],
    },
  ],
  testWebhookRequest: [{ event: "rewarded" }],
  testWebhookResponse: [
    {
      event_id: eventId,
      delivered: true,
      status: 200,
      answer: "ok",
      total_ms: 84,
      endpoint: "active",
    },
  ],
  redeliverEventResponse: [{ event_id: eventId, delivery: "waiting" }],
};

export const playerExamples = {
  openSessionRequest: [
    {
      bot_id: botId,
      init_data: "user=%7B%22id%22%3A42%7D&auth_date=1772366400&signature=…",
      code: code,
      media_types: ["video/mp4"],
    },
  ],
  appGrantRequest: [{ bot_id: botId, init_data: "user=%7B%22id%22%3A42%7D&auth_date=1772366400&signature=…" }],
  appGrantResponse: [
    {
      available: false,
      reason: "cooldown",
      available_at: "2026-03-01T12:01:00.000Z",
      app_grant: "AXk3…",
      expires_at: "2026-03-02T00:00:30.000Z",
      server_time: "2026-03-01T12:00:30.000Z",
    },
  ],
  scriptTroubleRequest: [{ bot_id: botId, script_version: "1.0", trouble: "launch-data-missing" }],
  scriptTroubleResponse: [{ server_time: "2026-03-01T12:00:30.000Z" }],
  openSessionResponse: [
    {
      outcome: "no-ad",
      bot: { bot_id: botId, name: "Quiz" },
      retry_after_seconds: 60,
      server_time: "2026-03-01T12:00:30.000Z",
    },
  ],
  reportRequest: [
    {
      token: "mR2v…",
      reports: [{ sequence: 0, from_ms: 0, to_ms: 5000, visible: true, muted: false, rendered_frames: 149 }],
      started: true,
      picture: { width: 720, height: 1280 },
    },
  ],
  reportResponse: [
    { state: "playing", accepted_ms: 5000, acknowledged: [0], refused: [], server_time: "2026-03-01T12:00:36.000Z" },
  ],
  faultRequest: [{ token: "mR2v…", fault: "timeout" }],
  faultResponse: [{ next_opening: "another-ad", server_time: "2026-03-01T12:00:36.000Z" }],
  adReportRequest: [{ token: "mR2v…", reason: "misleading" }],
  adReportResponse: [{ outcome: "recorded", server_time: "2026-03-01T12:00:36.000Z" }],
  clickResponse: [{ outcome: "counted", server_time: "2026-03-01T12:00:36.000Z" }],
  statusRequest: [{ token: "mR2v…", next_ad: true }],
  statusResponse: [
    {
      state: "rewarded",
      accepted_ms: 30_000,
      event: {
        event_id: eventId,
        occurred_at: "2026-03-01T12:01:05.120Z",
        delivery: "delivered",
        delivered_at: "2026-03-01T12:01:05.300Z",
      },
      next_ad: { available: true, today: { earned: 1, daily_cap: 5 } },
      server_time: "2026-03-01T12:01:06.000Z",
    },
  ],
};

export const webhookExamples = {
  webhookEvent: [
    {
      event: "rewarded",
      user_tg_id: "42",
      event_id: eventId,
      bot_id: botId,
      code: code,
      reference: "order-17",
      start_param: "ref_7",
      occurred_at: "2026-03-01T12:01:05.120Z",
      revenue_micros: 1750,
      currency: "USD",
    },
  ],
};

const task = {
  code,
  state: "offered",
  title: "Secret Garden",
  url: "https://rewards.example/task/7hKqM3xW9tRbZ2cN",
  expires_at: "2026-03-01T13:00:00.000Z",
  kind: "join",
  hold_days: 7,
  paid_at: "joined",
};

export const taskExamples = {
  listTasksRequest: [{ bot_id: botId, user_tg_id: "42", reference: "daily", language: "en" }],
  offeredTask: [task],
  listTasksResponse: [{ tasks: [task] }, { tasks: [], reason: "no-task" }],
};

const { url: _button, ...shownTask } = task;
const openTask = { ...shownTask, payment: "none" };
const ownTask = { ...shownTask, state: "held", held_until: "2026-03-08T12:00:30.000Z", payment: "paid" };
const serverTime = { server_time: "2026-03-01T12:00:30.000Z" };

export const playerTaskExamples = {
  ownTaskRequest: [{ bot_id: botId, init_data: "user=%7B%22id%22%3A42%7D&auth_date=1772366400&signature=…" }],
  listOwnTasksResponse: [
    { bot: { bot_id: botId, name: "Quiz" }, task_grant: "AXk3…", tasks: [ownTask], ...serverTime },
  ],
  openTaskResponse: [
    {
      outcome: "opened",
      link: "https://t.me/+AbCdEfGhIjKlMnOp",
      task: { ...openTask, state: "opened" },
      ...serverTime,
    },
  ],
  checkOwnTaskResponse: [{ task: ownTask, ...serverTime }],
};

const card = {
  card_id: "5f1d6c0a9be84c7f8c1f0a7d2b3e4c55",
  label: "Ad",
  title: "Summer sale",
  text: "Everything at half price until Sunday.",
  image_url: "https://cdn.network.example/sale.jpeg",
  button: "Look",
  url: "https://rewards.example/card/5f1d6c0a9be84c7f8c1f0a7d2b3e4c55",
  advertiser: "Shop",
  expires_at: "2026-03-01T12:15:00.000Z",
};

export const cardExamples = {
  offerCardRequest: [{ bot_id: botId, user_tg_id: "42", language: "en" }],
  offeredCard: [card],
  offerCardResponse: [{ card }, { card: null, reason: "no-card" }],
  shownCardResponse: [
    { card_id: card.card_id, counted: true, shown_at: "2026-03-01T12:00:02.000Z" },
    { card_id: card.card_id, counted: false, reason: "expired" },
  ],
} as const;
