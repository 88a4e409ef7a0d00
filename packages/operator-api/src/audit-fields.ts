import type { z } from "zod";
import { botSettings } from "./bots.ts";
import { buyerSettings } from "./buyers.ts";
import { type Campaign, campaignSettings } from "./campaigns.ts";
import type { Creative } from "./creatives.ts";
import type { ListedEndpoint } from "./endpoints.ts";
import type { AdvertiserParty, OperatorParty, Payee } from "./parties.ts";
import type { Person } from "./session.ts";
import { type StoredName, storedName } from "./stored-names.ts";
import type { ChannelRights, TaskUpdatesBy } from "./tasks.ts";
import type { Terms } from "./terms.ts";

/** The fields that recorded states of objects may have, beside the settings of campaigns and bots. */
const otherFields = [
  "ad_description",
  "address",
  "advertiser_id",
  "approval_above_micros",
  "approved_at",
  "approves_requests",
  "alerts",
  "requested",
  "requested_by",
  "attempts",
  "billing",
  "bot_id",
  "bot_ids",
  "buyer_id",
  "byte_length",
  "campaign_id",
  "captions",
  "code_prefix",
  "contact_email",
  "contract_action",
  "contract_amount",
  "contract_date",
  "contract_number",
  "contract_subject",
  "contract_type",
  "creative_id",
  "creatives",
  "credit_limit_micros",
  "currency",
  "decided_at",
  "disabled_reason",
  "domain",
  "duration_ms",
  "email",
  "event_id",
  "file_name",
  "filed_name",
  "formats",
  "has_key",
  "has_password",
  "height",
  "iban",
  "inn",
  "erid",
  "is_disabled",
  "is_invited",
  "is_suspended",
  "kind",
  "kktu",
  "language",
  "latest_payment",
  "reported_at",
  "reported_until",
  "least_payout_micros",
  "legal_name",
  "mails",
  "legal_line",
  "linked_accounts",
  "recovery_codes",
  "max_in_flight",
  "media_type",
  "month",
  "requested_email",
  "ord_url",
  "outcome",
  "passkeys",
  "payouts",
  "paused_by",
  "person_id",
  "person_kind",
  "picture_file_name",
  "postback_key",
  "poster_file_name",
  "refunded_at",
  "renditions",
  "resume_state",
  "reversed_at",
  "reason",
  "review",
  "review_reason",
  "reviewed_at",
  "revision",
  "rights",
  "reference",
  "role",
  "search",
  "seconded_by",
  "seen_by",
  "sessions",
  "sha256",
  "source_order",
  "state",
  "status",
  "task_bot_id",
  "updates_by",
  "submitted_at",
  "tag_id",
  "top_up_text",
  "top_up_url",
  "tax_id",
  "tax_name",
  "tax_note",
  "tax_percent",
  "telegram",
  "token",
  "tokens",
  "unit_icon_file_name",
  "url",
  "webhook",
  "width",
] as const;
const campaignFields = campaignSettings.omit({ advertiser: true }).keyof().options.map(storedName);
const botFields = botSettings.keyof().options.map(storedName);
const buyerFields = buyerSettings.omit({ key: true, url: true }).keyof().options.map(storedName);

/** The fields that recorded states of objects may have. */
export const auditFields = [...otherFields, ...new Set([...campaignFields, ...botFields, ...buyerFields])];
export type AuditField = (typeof auditFields)[number];

/** The words of a value, or of the entries of a list; never: it is of no closed list. */
type WordOf<Value> = NonNullable<Value> extends readonly (infer One)[] ? Literal<One> : Literal<NonNullable<Value>>;
type Literal<Value> = Value extends string ? (string extends Value ? never : Value) : never;

type WordsOf<Settings> = {
  readonly [Field in keyof Settings & string as WordOf<Settings[Field]> extends never
    ? never
    : StoredName<Field>]: WordOf<Settings[Field]>;
};

/** The fields of recorded states that hold words of closed lists. */
export type AuditWords = WordsOf<z.output<typeof campaignSettings>> &
  WordsOf<z.output<typeof botSettings>> &
  WordsOf<z.output<typeof buyerSettings>> &
  WordsOf<OperatorParty & AdvertiserParty & Payee> &
  WordsOf<Terms> &
  WordsOf<Pick<Person, "role">> &
  WordsOf<Pick<Campaign, "formats" | "pausedBy" | "review" | "status">> &
  WordsOf<Pick<Creative, "kind" | "review">> &
  WordsOf<Pick<ListedEndpoint, "disabledReason">> &
  WordsOf<{ rights: ChannelRights; updatesBy: TaskUpdatesBy }>;
