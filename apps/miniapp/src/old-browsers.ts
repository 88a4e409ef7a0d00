/**
 * What the app and its packages use and Chrome 80 or iOS 14 lack. Imported before anything else. The build fails if a script
 * uses another function that these browsers lack: `build/old-browsers.ts`.
 */

/** A listener's `signal`: Chrome 90, Safari 15. Without it no listener would ever be removed. */
let hasSignals = false;
const probe = Object.defineProperty({}, "signal", {
  get() {
    hasSignals = true;
    return undefined;
  },
});
const listen = EventTarget.prototype.addEventListener;
listen.call(document, "probe", () => {}, probe);

if (!hasSignals) {
  EventTarget.prototype.addEventListener = function (type, listener: Parameters<typeof listen>[1], options) {
    const signal = typeof options === "object" ? options.signal : undefined;
    if (signal?.aborted) return;
    listen.call(this, type, listener, options);
    if (signal) listen.call(signal, "abort", () => this.removeEventListener(type, listener, options));
  };
}

/** Chrome 93, Safari 15.4. */
const builtIn: { hasOwn?: unknown } = Object;
// biome-ignore lint/suspicious/noPrototypeBuiltins: Object.hasOwn is what is missing here.
builtIn.hasOwn ??= (of: object, name: PropertyKey) => Object.prototype.hasOwnProperty.call(of, name);
