const DAY_MS = 24 * 60 * 60 * 1000;
/** Long enough to make another one and put it in place. */
const EXPIRING_SOON_DAYS = 14;

/** How long a key still works. */
export type KeyExpiry = 'expired' | 'expiring' | 'good';

export function keyExpiry(expiresAt: number, now: number): KeyExpiry {
  if (expiresAt <= now) return 'expired';
  return expiresAt - now <= EXPIRING_SOON_DAYS * DAY_MS ? 'expiring' : 'good';
}

export const MAX_DAYS = 365;
export const DEFAULT_DAYS = 90;

/** A whole number of days that a key may have; undefined for anything else. */
export function parseDays(text: string): number | undefined {
  if (!/^\d{1,3}$/.test(text.trim())) return undefined;
  const days = Number(text);
  return days >= 1 && days <= MAX_DAYS ? days : undefined;
}
