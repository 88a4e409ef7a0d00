/** `/sdk/v1.js`, a classic script in the publisher's own page. */
import { init, VERSION } from "./ads-of-page.ts";

Object.assign(window, { Intermission: { init, version: VERSION } });
