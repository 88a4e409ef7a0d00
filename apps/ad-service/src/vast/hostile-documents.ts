import * as sample from "./sample-ad-server.ts";

const inline = (ad?: sample.Sample) => sample.inline(ad).replaceAll("{self}", "https://ads.example");
const wrapper = (to: string) => sample.wrapper(to).replaceAll("{self}", "https://ads.example");
const { vast } = sample;

/** Documents within the size limit that are made to cost as much as they can, by what they are full of. */
export function hostileDocuments(byteLength = 512 * 1024): Record<string, string> {
  const full = (piece: string | ((index: number) => string), around: (pieces: string) => string): string => {
    const left = byteLength - Buffer.byteLength(around(""));
    let pieces = "";
    let taken = 0;
    for (let index = 0; ; index++) {
      const next = typeof piece === "string" ? piece : piece(index);
      taken += Buffer.byteLength(next);
      if (taken > left) return around(pieces);
      pieces += next;
    }
  };
  const inLinear = (pieces: string) => inline({ tracking: pieces });
  const mediaFile =
    '<MediaFile delivery="progressive" type="video/mp4" width="640" height="360">https://a.b/c</MediaFile>';
  const ad = (content: string) => `<Ad id="1">${content}</Ad>`;
  const adOf = (document: string) => document.replace(/^[\s\S]*?<VAST[^>]*>/, "").replace("</VAST>", "");
  const nested = (name: string) => {
    const depth = Math.floor((byteLength - 2000) / (2 * name.length + 5));
    return inline({ more: `<${name}>`.repeat(depth) + `</${name}>`.repeat(depth) });
  };
  const doctype = (entities: string) =>
    vast("<Error>&a;</Error>").replace("<VAST", `<!DOCTYPE VAST [<!ENTITY a "a">${entities}]><VAST`);

  return {
    "media files": full(mediaFile, (files) => inline({ files })),
    "media files at addresses of their own": full(
      (index) => mediaFile.replace("/c", `/c${index}?${"x".repeat(100)}`),
      (files) => inline({ files }),
    ),
    trackings: full('<Tracking event="start">https://a.b/</Tracking>', (all) =>
      inLinear(`<TrackingEvents>${all}</TrackingEvents>`),
    ),
    "trackings at addresses of their own": full(
      (index) => `<Tracking event="start">https://a.b/${index}</Tracking>`,
      (all) => inLinear(`<TrackingEvents>${all}</TrackingEvents>`),
    ),
    "events of their own names": full(
      (index) => `<Tracking event="e${index}">https://a.b/</Tracking>`,
      (all) => inLinear(`<TrackingEvents>${all}</TrackingEvents>`),
    ),
    "lists of trackings": full("<TrackingEvents/>", inLinear),
    impressions: full("<Impression>https://a.b/</Impression>", (more) => inline({ more })),
    "error addresses": full(
      (index) => `<Error>https://a.b/${index}</Error>`,
      (all) => vast(all),
    ),
    "ads of neither kind": full("<Ad/>", (all) => vast(all)),
    "empty ads": full(ad("<InLine/>"), (all) => vast(all)),
    "empty ads in a pod": full(
      (index) => `<Ad sequence="${index + 1}"><InLine/></Ad>`,
      (all) => vast(all),
    ),
    "broken ads and error addresses": full(
      (index) => `<Error>https://a.b/${index}</Error>${ad(`<InLine><Error>https://c.d/${index}</Error></InLine>`)}`,
      (all) => vast(all),
    ),
    "whole ads": full(adOf(inline()), (all) => vast(all)),
    "wrappers that lead to no address": full(adOf(wrapper("nowhere")), (all) => vast(all)),
    creatives: full("<Creative><Linear/></Creative>", (all) =>
      vast(ad(`<InLine><Creatives>${all}</Creatives></InLine>`)),
    ),
    companions: full("<Creative><CompanionAds><Companion/></CompanionAds></Creative>", (all) =>
      vast(ad(`<InLine><Creatives>${all}</Creatives></InLine>`)),
    ),
    icons: full("<Icon><IconClicks/></Icon>", (all) => inLinear(`<Icons>${all}</Icons>`)),
    extensions: full('<Extension a="b"><c/></Extension>', (all) => inline({ more: `<Extensions>${all}</Extensions>` })),
    verifications: full("<Verification><JavaScriptResource>https://a.b/</JavaScriptResource></Verification>", (all) =>
      inline({ more: `<AdVerifications>${all}</AdVerifications>` }),
    ),
    "unknown elements": full("<a/>", (more) => inline({ more })),
    "elements of their own names": full(
      (index) => `<e${index}/>`,
      (more) => inline({ more }),
    ),
    "nested elements": nested("a"),
    "nested ads": nested("Ad"),
    "elements that are never closed": full("<a>", (all) => inline({ more: all })),
    attributes: full(
      (index) => ` a${index}="b"`,
      (all) => inline({ more: `<x${all}/>` }),
    ),
    "equal attributes": full(' a="b"', (all) => inline({ more: `<x${all}/>` })),
    namespaces: full(
      (index) => `<n${index}:a xmlns:n${index}="u${index}"/>`,
      (more) => inline({ more }),
    ),
    "nested namespaces": full(
      (index) => `<a xmlns:n${index}="u">`,
      (all) => inline({ more: all }),
    ),
    "a long attribute": full("x", (all) => inline({ more: `<x a="${all}"/>` })),
    "an attribute of references": full("&#60;", (all) => inline({ more: `<x a="${all}"/>` })),
    "a long name": full("x", (all) => inline({ more: `<${all}/>` })),
    "a long text": full("x", (all) => inline({ more: `<Extensions>${all}</Extensions>` })),
    "a long address": full("x", (all) => inline({ more: `<Impression>https://a.b/${all}</Impression>` })),
    "a long media address": full("x", (all) => inline({ files: mediaFile.replace("/c", `/${all}`) })),
    "a long duration": full("9", (all) => inline({ duration: all })),
    "a long version": full(".1", (all) => vast("", `4${all}`)),
    "a long tag": full("x", (all) => wrapper(`https://a.b/${all}`)),
    "blanks before an address": full(" ", (all) => inline({ more: `<Impression>${all}https://a.b/</Impression>` })),
    "blanks behind an address": full(" ", (all) => inline({ more: `<Impression>https://a.b/${all}</Impression>` })),
    "blanks at the start": full(" ", (all) => all + inline()),
    macros: full("[CACHEBUSTING]", (all) => inline({ more: `<Impression>https://a.b/${all}</Impression>` })),
    "macros that expand": full(
      (index) => `<Impression>https://a.b/${index}/${"[DEVICEUA]".repeat(400)}</Impression>`,
      (more) => inline({ more }),
    ),
    references: full("&amp;", (all) => inline({ more: `<Impression>https://a.b/${all}</Impression>` })),
    comments: full("<!---->", (more) => inline({ more })),
    "comments in an address": full("x<!---->", (all) =>
      inline({ more: `<Impression>https://a.b/${all}</Impression>` }),
    ),
    "a long comment": full("x", (all) => inline({ more: `<!--${all}-->` })),
    "a comment of dashes": full("- ", (all) => inline({ more: `<!--${all}-->` })),
    "CDATA sections": full("<![CDATA[]]>", (all) => inline({ more: `<Impression>https://a.b/${all}</Impression>` })),
    "a CDATA section of brackets": full("]] ", (all) =>
      inline({ more: `<Impression><![CDATA[${all}]]></Impression>` }),
    ),
    "processing instructions": full("<?a b?>", (more) => inline({ more })),
    "an entity in another": full(
      (index) => `<!ENTITY a${index} "${index === 0 ? "ha" : `&a${index - 1};&a${index - 1};`}">`,
      doctype,
    ),
    "a long DOCTYPE": full("<!-- x -->", doctype),
    "open angle brackets": full("<", (all) => inline({ more: all })),
    "characters of several bytes": full("\u00ff", (more) => inline({ more })),
  };
}
