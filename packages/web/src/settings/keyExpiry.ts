const DAY_MS = 24 * 60 * 60 * 1000;
/** Enough time to create a new key and deploy it. */
const EXPIRING_SOON_DAYS = 14;

/** Whether a key has expired or expires soon. */
export type KeyExpiry = 'expired' | 'expiring' | 'good';

export function keyExpiry(expiresAt: number, now: number): KeyExpiry {
  if (expiresAt <= now) return 'expired';
  return expiresAt - now <= EXPIRING_SOON_DAYS * DAY_MS ? 'expiring' : 'good';
}

export const MAX_DAYS = 365;
export const DEFAULT_DAYS = 90;

/** The lifetime of a key in days; undefined if the text is not a valid number. */
export function parseDays(text: string): number | undefined {
  if (!/^\d{1,3}$/.test(text.trim())) return undefined;
  const days = Number(text);
  return days >= 1 && days <= MAX_DAYS ? days : undefined;
}
