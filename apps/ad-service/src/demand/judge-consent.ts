import { GppModel, Sections } from "@iabgpp/cmpapi";
import type { Consent } from "@intermission/ad-core/consent";
import type { ConsentOutcome } from "@intermission/operator-api/consent-outcomes";
import { readGppSections } from "./read-gpp.ts";
import { readTcf, type TcfConsent } from "./read-tcf.ts";

/** Of the Transparency and Consent Framework: storing or reading on the device, and choosing ads. */
const PURPOSES = [1, 2];

/** Whether the address and an id of a viewer may go to a buyer: only where this is so. */
export function isPermitted(outcome: ConsentOutcome): boolean {
  return outcome === "consented" || outcome === "not-needed";
}

/** By the buyer's number in the Global Vendor List; null: it has none. */
type Judge = (vendorId: number | null) => ConsentOutcome;

/** Of what is asked once for each buyer of an opening, the strings are read once. */
const judges = new WeakMap<Consent, Judge>();

/**
 * What the consent of a viewer comes to for one buyer. Without any statement of the publisher it is `none`, so that nothing is sent.
 * `vendorId` is the buyer's number in the Global Vendor List: without it, no consent of the framework can name the buyer.
 */
export function judgeConsent(consent: Consent | undefined, vendorId: number | null): ConsentOutcome {
  if (consent === undefined) return "none";
  const judge = judges.get(consent) ?? readConsent(consent);
  judges.set(consent, judge);
  return judge(vendorId);
}

function readConsent({ gdpr, tcf, gpp, gpp_sid: applicable }: Consent): Judge {
  const found: Judge[] = [];
  if (tcf !== undefined && gdpr !== false) found.push(tcfJudge(tcf));
  const sections = gpp === undefined ? undefined : gppJudges(gpp, applicable);
  if (sections !== undefined) found.push(...sections.judges);
  if (gdpr === true && tcf === undefined && sections?.hasTcf !== true) found.push(() => "none");
  if (found.length === 0) found.push(() => (gdpr === false ? "not-needed" : "none"));
  return (vendorId) => {
    const outcomes = found.map((judge) => judge(vendorId));
    return outcomes.find((one) => !isPermitted(one)) ?? (outcomes.includes("consented") ? "consented" : "not-needed");
  };
}

function tcfJudge(text: string): Judge {
  const consent = readTcf(text);
  return consent === undefined ? () => "unreadable" : (vendorId) => judgeTcf(consent, vendorId);
}

/** A legitimate interest is no consent: what is sent is an address and an id. */
function judgeTcf({ purposes, namesVendor, isRestricted }: TcfConsent, vendorId: number | null): ConsentOutcome {
  if (!PURPOSES.every((purpose) => purposes[purpose - 1])) return "refused";
  if (vendorId === null || !namesVendor(vendorId)) return "other-vendor";
  return PURPOSES.some((purpose) => isRestricted(purpose, vendorId)) ? "refused" : "consented";
}

/** As `gpp_sid`: no section applies to this viewer. */
const NONE_APPLIES = -1;
const TCF_EU = 2;
const optOuts = ["SaleOptOut", "SharingOptOut", "TargetedAdvertisingOptOut"];

/** Of the sections that apply; `hasTcf`: that of the European Union is one of them. */
function gppJudges(text: string, applicable: readonly number[] | undefined): { judges: Judge[]; hasTcf: boolean } {
  const only = (outcome: ConsentOutcome) => ({ judges: [() => outcome], hasTcf: false });
  const sections = readGppSections(text);
  if (sections === undefined) return only("unreadable");
  if (applicable?.length === 1 && applicable[0] === NONE_APPLIES) return only("not-needed");
  const ids = applicable ?? [...sections.keys()];
  if (ids.length === 0) return only("none");
  const model = new GppModel(text);
  const read = (id: number): Judge => {
    const section = sections.get(id);
    if (section === undefined) return () => "unreadable";
    if (id === TCF_EU) return tcfJudge(section);
    const outcome = judgeState(model, id);
    return () => outcome;
  };
  return { judges: ids.map(read), hasTcf: ids.includes(TCF_EU) };
}

/**
 * Sections of states of the USA. The library reads the header of the string, whose sections are bounded by now, and of its sections
 * this one alone, which is of a fixed length.
 */
function judgeState(model: GppModel, id: number): ConsentOutcome {
  const name = Sections.SECTION_ID_NAME_MAP.get(id);
  if (name?.startsWith("us") !== true) return "unreadable";
  try {
    return judgeOptOuts(model.getSection(name));
  } catch {
    // Whatever the decoder throws: it was made for strings that are well-formed.
    return "unreadable";
  }
}

/** Consent is what was not objected to. 1: opted out; Gpc: the browser's own signal. */
function judgeOptOuts(section: Readonly<Record<string, unknown>>): ConsentOutcome {
  const isOut = optOuts.some((field) => section[field] === 1) || section.Gpc === true || section.OptOutSale === "Y";
  return isOut ? "opted-out" : "consented";
}
