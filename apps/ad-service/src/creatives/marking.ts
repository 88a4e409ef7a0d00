/**
 * What Russia's law on advertising (38-FZ, article 18.1, part 16) asks for beside an ad: the word, who advertises, and the
 * identifier. In Russian for every viewer, since it is not the page's text but the law's. Null: without an identifier.
 */
export function markingOf(erid: string | null, name: string | null): string | null {
  return erid === null || name === null ? null : `Реклама. ${name}. erid: ${erid}`;
}

/** SQL of an advertiser's legal name, by its id; null where it is unknown. */
export const legalNameOf = (advertiserId: string) =>
  `(select details ->> 'legal_name' from money_parties where account = 'advertiser:' || ${advertiserId})`;

/** The name in the marking of an ad: a label stands for the advertiser wherever its ad is shown, and so here. */
export function markedName(of: { label: string | null; legalName: string | null; advertiser: string }): string {
  return of.label ?? of.legalName ?? of.advertiser;
}

/**
 * SQL of the same for a row of `creatives`: as its newest campaign shows it, else as one of its advertiser's would. Null for
 * an operator's that nothing shows, and for a VAST tag, whose answer may name another advertiser.
 */
export const markedNameColumn = `case when erid is not null and kind <> 'vast' then coalesce(
     (select coalesce(label, ${legalNameOf("campaigns.advertiser_id")}, advertisers.name)
       from campaign_creatives join campaigns using (campaign_id) join advertisers using (advertiser_id)
       where campaign_creatives.creative_id = creatives.creative_id and is_active
         and (creatives.advertiser_id is null or creatives.advertiser_id = campaigns.advertiser_id)
       order by campaigns.created_at desc, campaign_id desc limit 1),
     ${legalNameOf("creatives.advertiser_id")},
     (select advertisers.name from advertisers where advertisers.advertiser_id = creatives.advertiser_id)) end`;
