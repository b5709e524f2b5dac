import { createHash } from 'node:crypto';
import type { ProviderIdentity } from './exchangeProvider.ts';
import type { Subject } from './subject.ts';

/** All that decides what a token may be used for. Two wishes that differ in any of it never share one. */
export interface KeyParts {
  readonly tenant: string;
  readonly principal: string;
  /** Of the caller: what another role is given is another token. */
  readonly role: string;
  readonly serverId: string;
  readonly revision: string;
  /** On whose word the server's address rests, and since when. */
  readonly securedBy: string;
  readonly provider: ProviderIdentity;
  readonly subject: Pick<Subject, 'issuer' | 'subject' | 'hash'>;
  readonly audience: string | undefined;
  readonly resource: string | undefined;
  readonly scopes: readonly string[];
  readonly claims: string | undefined;
  /** Of the key that it is bound to; undefined for a bearer token. */
  readonly keyThumbprint: string | undefined;
}

/** SHA-256 over the parts as one JSON tuple: no two tuples share an encoding, broken text included. */
export function exchangeKey(parts: KeyParts): string {
  const { provider, subject } = parts;
  const fields = [
    parts.tenant,
    parts.principal,
    parts.role,
    parts.serverId,
    parts.revision,
    parts.securedBy,
    provider.provider,
    provider.grant,
    provider.endpoint,
    provider.clientId,
    provider.credentialVersion,
    provider.actor,
    subject.issuer,
    subject.subject,
    subject.hash,
    parts.audience ?? null,
    parts.resource ?? null,
    // As a set: the order of the file has no meaning.
    [...new Set(parts.scopes)].sort(),
    parts.claims ?? null,
    parts.keyThumbprint ?? null,
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}
