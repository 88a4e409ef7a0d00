/** `/sdk/v1.js` */
import { init, VERSION } from "./in-app-ads.ts";

Object.assign(window, { Intermission: { init, version: VERSION } });
