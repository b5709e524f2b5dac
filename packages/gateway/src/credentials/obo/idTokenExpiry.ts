import type { HiddenText } from '@behalf/kernel';
import { parseJsonObject } from './providers/providerRequest.ts';

/** It is sent to who issued it, and must still be good when it gets there. */
const EXPIRY_MARGIN_MS = 10_000;

export interface IdTokenOwner {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Until when an ID token of this account may be exchanged; undefined when it says nothing of that, or speaks of somebody else. The
 * provider gave it to us at its own token endpoint, and it goes back to that provider alone, which verifies it.
 */
export function readIdTokenExpiry(token: HiddenText, { issuer, subject }: IdTokenOwner): number | undefined {
  const claims = parseJsonObject(Buffer.from(token.reveal().split('.')[1] ?? '', 'base64url').toString());
  const { iss, sub, exp } = claims ?? {};
  if (iss !== issuer || sub !== subject || typeof exp !== 'number') return undefined;
  return exp * 1_000 - EXPIRY_MARGIN_MS;
}
