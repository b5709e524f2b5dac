import type { HiddenText } from '@behalf/kernel';
import { readObject } from './providers/ask.ts';

/** It is sent to who issued it, and must still be good when it gets there. */
const MARGIN_MS = 10_000;

export interface IdTokenOf {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Until when an ID token of this account may be exchanged; undefined when it says nothing of that, or speaks of somebody else. The
 * provider gave it to us at its own token endpoint, and it goes back to that provider alone, which verifies it.
 */
export function idTokenEnd(token: HiddenText, { issuer, subject }: IdTokenOf): number | undefined {
  const claims = readObject(Buffer.from(token.reveal().split('.')[1] ?? '', 'base64url').toString());
  const { iss, sub, exp } = claims ?? {};
  if (iss !== issuer || sub !== subject || typeof exp !== 'number') return undefined;
  return exp * 1_000 - MARGIN_MS;
}
