import { parseUrl } from '@behalf/contracts';
import type { OAuthIssuer } from '@behalf/contracts';
import type { IssuerProfile } from './grantContext.ts';

/** What the operator says about authorization servers, as the configuration has it now. */
export interface IssuerBook {
  /** `mcpSettings.issuers`. */
  readonly issuers: Readonly<Record<string, OAuthIssuer>>;
  /** Where people sign in to this gateway, and every address of `identityProviders`. */
  readonly identityUrls: readonly string[];
}

export function entryOf({ issuers }: IssuerBook, issuer: string): OAuthIssuer | undefined {
  return Object.hasOwn(issuers, issuer) ? issuers[issuer] : undefined;
}

/** Whether the operator lists this very pair. */
export function isListed(book: IssuerBook, issuer: string, serverOrigin: string): boolean {
  return entryOf(book, issuer)?.origins.some((origin) => originText(origin) === serverOrigin) ?? false;
}

export function endpointOriginsOf(book: IssuerBook, issuer: string): readonly string[] {
  return entryOf(book, issuer)?.endpointOrigins.map(originText) ?? [];
}

export function profileOf(book: IssuerBook, issuer: string): IssuerProfile {
  const entry = entryOf(book, issuer);
  return {
    rotationGraceMs: (entry?.rotationGraceSeconds ?? 0) * 1_000,
    revokeOnReplace: entry?.revokeOnReplace ?? 'never',
  };
}

export function assumesS256(book: IssuerBook, issuer: string): boolean {
  const entry = entryOf(book, issuer);
  return entry?.pkce === 'assume-s256' || entry?.profile === 'entra';
}

export function omitsResource(book: IssuerBook, issuer: string): boolean {
  const entry = entryOf(book, issuer);
  return (entry?.resource ?? (entry?.profile === 'entra' ? 'omit' : 'send')) === 'omit';
}

/** An entry may be written with a slash at its end, or as a whole address. */
function originText(entry: string): string {
  return parseUrl(entry)?.origin ?? entry;
}
