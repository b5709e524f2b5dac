const DAY_MS = 24 * 60 * 60 * 1000;
/** Long enough to make another one and put it in place. */
const SOON_DAYS = 14;

/** How long a key still works. */
export type KeyLife = 'expired' | 'expiring' | 'good';

export function keyLife(expiresAt: number, now: number): KeyLife {
  if (expiresAt <= now) return 'expired';
  return expiresAt - now <= SOON_DAYS * DAY_MS ? 'expiring' : 'good';
}

export const MOST_DAYS = 365;
export const USUAL_DAYS = 90;

/** A whole number of days that a key may have; undefined for anything else. */
export function readDays(text: string): number | undefined {
  if (!/^\d{1,3}$/.test(text.trim())) return undefined;
  const days = Number(text);
  return days >= 1 && days <= MOST_DAYS ? days : undefined;
}
