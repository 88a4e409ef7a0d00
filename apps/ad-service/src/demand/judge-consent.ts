import { GppModel, Sections } from "@iabgpp/cmpapi";
import { TCString } from "@iabtcf/core";
import type { Consent } from "@intermission/ad-core/consent";
import type { ConsentOutcome } from "@intermission/operator-api/consent-outcomes";

/** Of the Transparency and Consent Framework: storing or reading on the device, and choosing ads. */
const PURPOSES = { store: 1, select: 2 };

/** Whether the address and an id of a viewer may go to a buyer: only where this is so. */
export function isPermitted(outcome: ConsentOutcome): boolean {
  return outcome === "consented" || outcome === "not-needed";
}

/**
 * What the consent of a viewer comes to for one buyer. Without any statement of the publisher it is `none`, so that nothing is sent.
 * `vendorId` is the buyer's number in the Global Vendor List: without it, no consent of the framework can name the buyer.
 */
export function judgeConsent(consent: Consent | undefined, vendorId: number | null): ConsentOutcome {
  if (consent === undefined) return "none";
  const { gdpr, tcf, gpp, gpp_sid: sections } = consent;
  const found: ConsentOutcome[] = [];
  if (tcf !== undefined && gdpr !== false) found.push(judgeTcf(tcf, vendorId));
  else if (gdpr === true) found.push("none");
  if (gpp !== undefined) found.push(judgeGpp(gpp, { sections, vendorId }));
  if (found.length === 0) return gdpr === false ? "not-needed" : "none";
  return found.find((one) => !isPermitted(one)) ?? (found.includes("consented") ? "consented" : "not-needed");
}

function judgeTcf(text: string, vendorId: number | null): ConsentOutcome {
  try {
    const { purposeConsents, purposeLegitimateInterests, vendorConsents } = TCString.decode(text);
    if (!purposeConsents.has(PURPOSES.store)) return "refused";
    if (!purposeConsents.has(PURPOSES.select) && !purposeLegitimateInterests.has(PURPOSES.select)) return "refused";
    return vendorId !== null && vendorConsents.has(vendorId) ? "consented" : "other-vendor";
  } catch {
    // Whatever the decoder throws: it was made for strings that are well-formed.
    return "unreadable";
  }
}

/** As `gpp_sid`: no section applies to this viewer. */
const NONE_APPLIES = -1;
const TCF_EU = 2;
const optOuts = ["SaleOptOut", "SharingOptOut", "TargetedAdvertisingOptOut"];

function judgeGpp(
  text: string,
  { sections, vendorId }: { sections: readonly number[] | undefined; vendorId: number | null },
): ConsentOutcome {
  try {
    const model = new GppModel(text);
    const known: number[] = model.getSectionIds();
    const applicable = sections ?? known;
    if (sections?.length === 1 && sections[0] === NONE_APPLIES) return "not-needed";
    if (applicable.length === 0) return "none";
    const found = applicable.map((id): ConsentOutcome => {
      const place = known.indexOf(id);
      if (place < 0) return "unreadable";
      // Behind the header, in the order of their ids.
      if (id === TCF_EU) return judgeTcf(text.split("~")[1 + place] ?? "", vendorId);
      const name = Sections.SECTION_ID_NAME_MAP.get(id);
      return name?.startsWith("us") ? judgeOptOuts(model.getSection(name)) : "unreadable";
    });
    return found.find((one) => !isPermitted(one)) ?? "consented";
  } catch {
    return "unreadable";
  }
}

/** Sections of states of the USA: consent is what was not objected to. 1: opted out; Gpc: the browser's own signal. */
function judgeOptOuts(section: Readonly<Record<string, unknown>>): ConsentOutcome {
  const isOut = optOuts.some((field) => section[field] === 1) || section.Gpc === true || section.OptOutSale === "Y";
  return isOut ? "opted-out" : "consented";
}
