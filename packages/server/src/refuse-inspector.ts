/**
 * Imported first by every program that has keys in its memory: without a listener, SIGUSR1 opens Node's inspector on port 9229,
 * where any local user can read them. `--disable-sigusr1`, which the units, images and scripts set, covers the moment before.
 */
process.on("SIGUSR1", () => {});
