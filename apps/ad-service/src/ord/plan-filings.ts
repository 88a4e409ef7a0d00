import { createHash } from "node:crypto";
import type { FilingGap, FilingKind, FilingState, PersonKind } from "@intermission/operator-api/ord-words";
import type { AdvertiserParty, OperatorParty, Payee } from "@intermission/operator-api/parties";

/*
 * What is filed, as VK ORD's documentation has it: https://ord.vk.com/help/api/swagger/, operations v1-create-person,
 * v1-create-contract, v1-create-pad, v1-upload-media, v3-create-creative and v3-create-statistics. All of them create or update,
 * by ids of the caller: a request may be repeated.
 */

export interface FactsToFile {
  /** A past month, as `2026-03`. */
  month: string;
  operator: OperatorParty;
  /** The address of this deployment, which is filed as an advertising system. */
  publicUrl: string;
  currency: string;
  /** No ad is marked with a sandbox's erids. */
  isSandbox: boolean;
  advertisers: ReadonlyMap<string, { name: string; party: AdvertiserParty }>;
  payees: ReadonlyMap<string, Payee>;
  creatives: readonly CreativeToFile[];
  /** Views of the month by bot and creative. */
  shows: readonly ShowsOfMonth[];
  /** Filed records by their external id. */
  records: ReadonlyMap<string, FiledRecord>;
}

export interface CreativeToFile {
  creativeId: string;
  name: string;
  /** The lightest file of the video; null: the file is not stored here. */
  fileName: string | null;
  kktu: string | null;
  adDescription: string | null;
  erid: string | null;
  advertiserIds: readonly string[];
  landingUrls: readonly string[];
}

export interface ShowsOfMonth {
  botId: string;
  botName: string;
  username: string | null;
  creativeId: string;
  shows: number;
  paidShows: number;
  /** A string of digits, since a sum may exceed a safe integer. */
  spendMicros: string;
}

export interface FiledRecord {
  externalId: string;
  filedHash: Buffer | null;
  filedAt: Date | null;
  erid: string | null;
  fault: string | null;
  isRefused: boolean;
}

export interface PlannedFiling {
  externalId: string;
  kind: FilingKind;
  name: string;
  objectId: string;
  gaps: readonly FilingGap[];
  /** The request's body, once it has no gaps; of a medium, its description. */
  body: Readonly<Record<string, unknown>>;
  /** Ids of the records that this one references. */
  needs: readonly string[];
  /** The erid of a creative. */
  erid?: string | null;
}

/** All records to file, in order; empty if no creative is subject to filing. */
export function planFilings(facts: FactsToFile): PlannedFiling[] {
  if (facts.creatives.length === 0) return [];
  const { operator, advertisers } = facts;
  const self = personOf("operator", operator, "operator");
  const ofAdvertisers = [...advertisers].map(([advertiserId, { name, party }]) => ({
    advertiserId,
    name,
    party,
    person: personOf(advertiserId, party, "advertiser"),
  }));
  const bots = [...new Map(facts.shows.map((shows) => [shows.botId, shows])).values()].map((bot) => ({
    ...bot,
    person: personOf(bot.botId, facts.payees.get(bot.botId), "payee"),
  }));
  const persons = mergedPersons([
    { ...self, name: self.legalName ?? "", roles: ["ors"], rsUrl: facts.publicUrl },
    ...ofAdvertisers.map(({ person, name }) => ({ ...person, name: person.legalName ?? name, roles: ["advertiser"] })),
    ...bots.map(({ person, botName }) => ({ ...person, name: person.legalName ?? botName, roles: ["publisher"] })),
  ]);
  const contracts = ofAdvertisers
    .filter(({ person }) => person.externalId !== self.externalId)
    .map(({ advertiserId, name, party, person }) =>
      contractOf({ advertiserId, name, party, client: person.externalId, contractor: self.externalId, operator }),
    );
  const pads = bots.map(({ person, ...bot }) => padOf(bot, person.externalId));
  const clients = new Map(ofAdvertisers.map(({ advertiserId, person }) => [advertiserId, person.externalId]));
  const creatives = facts.creatives.flatMap((creative) =>
    creativeOf(facts, creative, { clients, self: self.externalId }),
  );
  const statistics = facts.shows.map((shows) => statisticsOf(facts, shows));
  return [...persons, ...contracts, ...pads, ...creatives, ...statistics];
}

interface Person {
  externalId: string;
  objectId: string;
  legalName: string | null;
  details: Readonly<Record<string, unknown>>;
  gaps: readonly FilingGap[];
}

const innLengths: Readonly<Record<PersonKind, number>> = { juridical: 10, ip: 12, physical: 12 };

/** Parties are identified by INN: an advertiser may also own bots, or be the operator. */
function personOf(
  objectId: string,
  party: Pick<OperatorParty, "legalName" | "filedName" | "personKind" | "inn"> | undefined,
  gap: "operator" | "advertiser" | "payee",
): Person {
  const { personKind = null, inn = null } = party ?? {};
  // Banks need a name in Latin letters; the register has another one.
  const legalName = party?.filedName ?? party?.legalName ?? null;
  const externalId = inn === null ? `person-of-${objectId}` : `person-${inn}`;
  const details = { type: personKind, inn };
  const isComplete = legalName !== null && personKind !== null && inn !== null;
  if (!isComplete) return { externalId, objectId, legalName, details, gaps: [gap] };
  const isOfKind = inn.length === innLengths[personKind];
  return { externalId, objectId, legalName, details, gaps: isOfKind ? [] : ["inn-length"] };
}

function mergedPersons(
  persons: readonly (Person & { name: string; roles: readonly string[]; rsUrl?: string })[],
): PlannedFiling[] {
  const byId = Map.groupBy(persons, ({ externalId }) => externalId);
  return [...byId].map(([externalId, [first, ...others]]) => {
    if (first === undefined) throw new Error("a group has members");
    const { objectId, name, details, gaps, rsUrl } = first;
    const roles = [...new Set([first, ...others].flatMap((one) => one.roles))];
    const body = { name, roles, juridical_details: details, ...(rsUrl !== undefined && { rs_url: rsUrl }) };
    return { externalId, kind: "person", name, objectId, gaps, body, needs: [] };
  });
}

const contractId = (advertiserId: string) => `contract-${advertiserId}`;

function contractOf({
  advertiserId,
  name,
  party,
  client,
  contractor,
  operator,
}: {
  advertiserId: string;
  name: string;
  party: AdvertiserParty;
  client: string;
  contractor: string;
  operator: OperatorParty;
}): PlannedFiling {
  const { contractNumber, contractDate, contractAmount, contractType, contractSubject, contractAction } = party;
  const isMediation = contractType === "mediation";
  const gaps: FilingGap[] = [];
  if (contractNumber === null || contractDate === null) gaps.push("contract");
  if (isMediation && contractAction === null) gaps.push("contract-action");
  const body = {
    type: contractType,
    client_external_id: client,
    contractor_external_id: contractor,
    date: contractDate,
    serial: contractNumber,
    subject_type: contractSubject,
    ...(isMediation && { action_type: contractAction }),
    ...(contractAmount !== null && {
      amount: contractAmount.includes(".") ? contractAmount : `${contractAmount}.00`,
      // All prices include the tax.
      ...(operator.taxPercent !== null && { flags: ["vat_included"] }),
    }),
  };
  const externalId = contractId(advertiserId);
  return { externalId, kind: "contract", name, objectId: advertiserId, gaps, body, needs: [client, contractor] };
}

const padId = (botId: string) => `bot-${botId}`;

function padOf({ botId, botName, username }: Omit<ShowsOfMonth, "creativeId">, owner: string): PlannedFiling {
  const url = `https://t.me/${username}`;
  const body = { person_external_id: owner, is_owner: true, type: "web", name: botName, url };
  const gaps: FilingGap[] = username === null ? ["bot-username"] : [];
  return { externalId: padId(botId), kind: "pad", name: botName, objectId: botId, gaps, body, needs: [owner] };
}

/** The file, then the creative. Each creative is a video, since pictures are converted to videos. */
function creativeOf(
  { records, isSandbox }: FactsToFile,
  { creativeId, name, fileName, kktu, adDescription, erid, advertiserIds, landingUrls }: CreativeToFile,
  { clients, self }: { clients: ReadonlyMap<string, string>; self: string },
): PlannedFiling[] {
  const [advertiserId = "", ...others] = advertiserIds;
  const client = clients.get(advertiserId);
  const isMarkedElsewhere = erid !== null && !isSandbox && records.get(creativeId)?.erid !== erid;
  const gaps: FilingGap[] = [];
  if (isMarkedElsewhere) gaps.push("other-erid");
  if (kktu === null) gaps.push("kktu");
  if (client === undefined) gaps.push("no-advertiser");
  if (others.length > 0) gaps.push("several-advertisers");
  if (fileName === null) gaps.push("no-file");
  // A medium never changes: a new file, such as a lighter one, is a new medium. Files are named by their hash.
  const mediaId = `${creativeId}-media-${fileName?.slice(0, 16) ?? ""}`;
  const party = client === self ? self : contractId(advertiserId);
  const urls = [...new Set(landingUrls.flatMap(publicPart))];
  const body = {
    ...(client === self ? { person_external_id: self } : { contract_external_ids: [party] }),
    kktus: [kktu],
    name,
    ...(adDescription !== null && { description: adDescription }),
    form: "video",
    ...(urls.length > 0 && { target_urls: urls }),
    media_external_ids: [mediaId],
  };
  const of = { name, objectId: creativeId };
  const media: PlannedFiling = { ...of, externalId: mediaId, kind: "media", gaps: [], body: { fileName }, needs: [] };
  const creative = {
    ...of,
    externalId: creativeId,
    kind: "creative",
    gaps,
    body,
    needs: [party, mediaId],
    erid,
  } as const;
  return gaps.length > 0 ? [creative] : [media, creative];
}

/** The landing address without the macros that each click fills in. */
function publicPart(address: string): string[] {
  const url = URL.parse(address);
  if (url === null || /[{}]|%7b/i.test(url.host + url.pathname)) return [];
  return [/[{}]|%7b/i.test(url.search) ? url.origin + url.pathname : url.origin + url.pathname + url.search];
}

function statisticsOf({ month, currency, operator }: FactsToFile, of: ShowsOfMonth): PlannedFiling {
  const { botId, botName, creativeId, shows, paidShows } = of;
  const spendMicros = BigInt(of.spendMicros);
  const [year = 0, number = 0] = month.split("-").map(Number);
  const lastDay = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  const body = {
    creative_external_id: creativeId,
    pad_external_id: padId(botId),
    shows_count: shows,
    invoice_shows_count: paidShows,
    date_start_actual: `${month}-01`,
    date_end_actual: lastDay,
    // No other `pay_type` describes a payment for a completed view.
    pay_type: "other",
    // Amounts are filed only in roubles.
    ...(currency === "RUB" && { amount: amountOf(spendMicros, operator.taxPercent) }),
  };
  return {
    externalId: `statistics-${month}-${botId}-${creativeId}`,
    kind: "statistics",
    name: `${month}, ${botName}`,
    objectId: creativeId,
    gaps: spendMicros < 0n && currency === "RUB" ? ["negative-amount"] : [],
    body,
    needs: [creativeId, padId(botId)],
  };
}

const HUNDREDTHS_OF_PERCENT = 100n;

/** An amount with the tax that it contains, in kopecks; halves are rounded up. */
function amountOf(micros: bigint, taxPercent: string | null) {
  const including = (micros + 5_000n) / 10_000n;
  const rate = taxPercent === null ? 0n : BigInt(Math.round(Number(taxPercent) * 100));
  const whole = 100n * HUNDREDTHS_OF_PERCENT + rate;
  const vat = (including * rate * 2n + whole) / (whole * 2n);
  return {
    excluding_vat: roublesOf(including - vat),
    vat_rate: taxPercent ?? "without_vat",
    vat: roublesOf(vat),
    including_vat: roublesOf(including),
  };
}

function roublesOf(kopecks: bigint): string {
  return `${kopecks / 100n}.${String(kopecks % 100n).padStart(2, "0")}`;
}

export function hashOf({ body }: Pick<PlannedFiling, "body">): Buffer {
  return createHash("sha256").update(JSON.stringify(body)).digest();
}

/** The state of a filing. `filed` has the ids of earlier records that are filed. */
export function stateOf(
  filing: PlannedFiling,
  { records, isSandbox, filed }: Pick<FactsToFile, "records" | "isSandbox"> & { filed: ReadonlySet<string> },
): FilingState {
  const record = records.get(filing.externalId);
  const isMarked = filing.erid === undefined || isSandbox || filing.erid === record?.erid;
  if (filing.gaps.length > 0) return "incomplete";
  if (filing.needs.some((id) => !filed.has(id))) return "waiting";
  if (record?.filedHash?.equals(hashOf(filing)) && isMarked) return "filed";
  return record?.isRefused ? "refused" : "ready";
}
