import { parseUrl } from '@behalf/contracts';
import type { OAuthIssuer } from '@behalf/contracts';
import type { IssuerProfile } from './grantContext.ts';

/** What the operator says about authorization servers, as the configuration has it now. */
export interface IssuerSettings {
  /** `mcpSettings.issuers`. */
  readonly issuers: Readonly<Record<string, OAuthIssuer>>;
  /** Where people sign in to this gateway, and every address of `identityProviders`. */
  readonly identityUrls: readonly string[];
}

export function findIssuerEntry({ issuers }: IssuerSettings, issuer: string): OAuthIssuer | undefined {
  return Object.hasOwn(issuers, issuer) ? issuers[issuer] : undefined;
}

/** Whether the operator lists this very pair. */
export function isOriginListed(
  issuerSettings: IssuerSettings,
  issuer: string,
  serverOrigin: string,
): boolean {
  return (
    findIssuerEntry(issuerSettings, issuer)?.origins.some((origin) => toOrigin(origin) === serverOrigin) ??
    false
  );
}

export function listEndpointOrigins(issuerSettings: IssuerSettings, issuer: string): readonly string[] {
  return findIssuerEntry(issuerSettings, issuer)?.endpointOrigins.map(toOrigin) ?? [];
}

export function toIssuerProfile(issuerSettings: IssuerSettings, issuer: string): IssuerProfile {
  const entry = findIssuerEntry(issuerSettings, issuer);
  return {
    rotationGraceMs: (entry?.rotationGraceSeconds ?? 0) * 1_000,
    revokeOnReplace: entry?.revokeOnReplace ?? 'never',
  };
}

export function assumesS256(issuerSettings: IssuerSettings, issuer: string): boolean {
  const entry = findIssuerEntry(issuerSettings, issuer);
  return entry?.pkce === 'assume-s256' || entry?.profile === 'entra';
}

export function omitsResource(issuerSettings: IssuerSettings, issuer: string): boolean {
  const entry = findIssuerEntry(issuerSettings, issuer);
  return (entry?.resource ?? (entry?.profile === 'entra' ? 'omit' : 'send')) === 'omit';
}

/** An entry may be written with a slash at its end, or as a whole address. */
function toOrigin(entry: string): string {
  return parseUrl(entry)?.origin ?? entry;
}
