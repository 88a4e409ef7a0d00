/** Counted clicks of one address, many people's as it may be. Above any of these the next one is asked for a tap. */
const LIMITS = [
  { clicks: 1, seconds: 60 },
  { clicks: 3, seconds: 600 },
  { clicks: 10, seconds: 3600 },
  { clicks: 25, seconds: 86_400 },
] as const;

/** The same limits as arrays of SQL, for the statement that counts; it keeps as many clicks as the last of them looks at. */
export const limitsInSql = {
  clicks: `'{${LIMITS.map(({ clicks }) => clicks).join(",")}}'::integer[]`,
  seconds: `'{${LIMITS.map(({ seconds }) => seconds).join(",")}}'::integer[]`,
};

/** Whether an address with these counted clicks, newest first, has used up one of its limits. */
export function isAddressOverLimits(counted: readonly Date[], now: Date): boolean {
  return LIMITS.some(({ clicks, seconds }) => {
    const oldest = counted[clicks - 1];
    return oldest !== undefined && now.getTime() - oldest.getTime() < seconds * 1000;
  });
}
