/** As the schema of the request has it, which counts code points as well. */
export const isNote = (note: unknown): boolean => typeof note === "string" && /^[^\p{Cc}\p{Cs}]{0,128}$/u.test(note);
