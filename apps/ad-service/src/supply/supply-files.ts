import type { OperatorParty } from "@intermission/operator-api/parties";

/** A bot whose openings are sold, and who is paid for them. */
interface Seller {
  botId: string;
  /** Null: the publisher has not said that its name may be published. */
  name: string | null;
  domain: string | null;
}

/** What the operator and its publishers have said of themselves, and what buyers asked to be published. */
export interface Supply {
  /** The host of `PUBLIC_URL`: the site of all openings, and the selling system. */
  host: string;
  operator: Pick<OperatorParty, "domain" | "contactEmail" | "tagId">;
  sellers: readonly Seller[];
  /** Of buyers that are on, each once. */
  records: readonly string[];
}

/** The record of a host without sellers (ads.txt 1.1, 3.2.1): without any record, the file would count as absent. */
const NO_SELLERS = "placeholder.example.com, placeholder, DIRECT, placeholder";

/**
 * `/ads.txt` by IAB's ads.txt 1.1: who may sell the openings of this host. Each bot's account with this service is its publisher's
 * own; the accounts with exchanges are named by the operator.
 */
export function adsTxt({ host, operator, sellers, records }: Supply): string {
  const own = sellers.map(
    ({ botId }) => `${host}, ${botId}, DIRECT${operator.tagId === null ? "" : `, ${operator.tagId}`}`,
  );
  const lines = [...own, ...records];
  return [
    ...(operator.domain === null ? [] : [`OWNERDOMAIN=${operator.domain}`]),
    ...(operator.contactEmail === null ? [] : [`CONTACT=${operator.contactEmail}`]),
    ...(lines.length > 0 ? lines : [NO_SELLERS]),
    "",
  ].join("\n");
}

/**
 * `/sellers.json` by IAB's sellers.json 1.0. Each seller is the `sid` of a supply chain that this service sends, whose `asi` is this
 * host. A seller without a published name and domain is confidential, and named by its id alone.
 */
export function sellersJson({ operator, sellers }: Supply): SellersJson {
  const { contactEmail, tagId } = operator;
  return {
    ...(contactEmail !== null && { contact_email: contactEmail }),
    version: "1.0",
    ...(tagId !== null && { identifiers: [{ name: "TAG-ID", value: tagId }] }),
    sellers: sellers.map(({ botId, name, domain }) => ({
      seller_id: botId,
      ...(name !== null && domain !== null ? { name, domain } : { is_confidential: 1 }),
      seller_type: "PUBLISHER",
    })),
  };
}

interface SellersJson {
  contact_email?: string;
  version: "1.0";
  identifiers?: { name: "TAG-ID"; value: string }[];
  sellers: { seller_id: string; name?: string; domain?: string; is_confidential?: 1; seller_type: "PUBLISHER" }[];
}
