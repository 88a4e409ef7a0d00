/**
 * The words of filings at an operator of ad data (ОРД), in a file without schemas. Kinds, types and subjects are those of VK
 * ORD's API (https://ord.vk.com/help/api/swagger/: person v1, contract v1), which are sent as they are.
 */

/** `juridical_details.type`: a company, a sole trader, a person. Parties abroad need other details and are filed by hand. */
export const personKinds = ["juridical", "ip", "physical"] as const;
export type PersonKind = (typeof personKinds)[number];

/** `type` of a contract. A supplement or a contract with oneself is filed by hand. */
export const contractTypes = ["service", "mediation"] as const;
export type ContractType = (typeof contractTypes)[number];

/** `subject_type`. */
export const contractSubjects = ["distribution", "org_distribution", "mediation", "representation", "other"] as const;
export type ContractSubject = (typeof contractSubjects)[number];

/** `action_type`, of a contract of mediation. */
export const contractActions = ["distribution", "conclude", "commercial", "other"] as const;
export type ContractAction = (typeof contractActions)[number];

/** Kinds of records in the order of filing: a record references earlier ones. */
export const filingKinds = ["person", "contract", "pad", "media", "creative", "statistics"] as const;
export type FilingKind = (typeof filingKinds)[number];

/**
 * `ready`: the next run files it. `waiting`: it names a record that is not filed. `incomplete`: details are missing here.
 * `refused`: the operator of ad data has refused it.
 */
export const filingStates = ["filed", "ready", "waiting", "incomplete", "refused"] as const;
export type FilingState = (typeof filingStates)[number];

/** Why a record cannot be filed as it is. */
export const filingGaps = [
  "operator",
  "advertiser",
  "payee",
  "inn-length",
  "contract",
  "contract-action",
  "bot-username",
  "kktu",
  "no-advertiser",
  "several-advertisers",
  "no-file",
  "other-erid",
  "negative-amount",
] as const;
export type FilingGap = (typeof filingGaps)[number];
