import { createHash } from 'node:crypto';
import { scopeList } from '@behalf/contracts';
import { type HiddenText, type Keyring, LruMap } from '@behalf/kernel';
import { type Principal, principalKey } from '../../principal/principal.ts';
import type { UserServer } from '../../definitions/definition.ts';
import { type Dpop, type Prover, deriveDpopKey } from '../oauth/dpop.ts';
import type { ExchangeProvider, ProviderIdentity } from './exchangeProvider.ts';
import type { Subject } from './subject.ts';

/** The `obo` section of a server definition. */
export interface OboOptions {
  readonly scopes: string;
  readonly provider?: string | undefined;
  readonly grant?: 'jwt-bearer' | 'token-exchange' | undefined;
  readonly audience?: string | undefined;
  readonly resource?: string | undefined;
}

interface ExchangeKeyInput {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly options: OboOptions;
  readonly subject: Subject;
  readonly provider: ExchangeProvider;
  readonly claims: string | undefined;
  /** The key that the token is bound to. Undefined for a bearer token. */
  readonly keyThumbprint: string | undefined;
}

interface CachedExchangeKey extends ExchangeKeyInput {
  readonly identity: ProviderIdentity;
  readonly key: string;
}

/** Computes the cache key of an exchange. */
export type ComputeExchangeKey = (input: ExchangeKeyInput) => string;

/** Caches the key by object identity: subject and definition are the same objects for each call. */
export function createExchangeKeyCache(): ComputeExchangeKey {
  const bySubject = new WeakMap<Subject, WeakMap<UserServer, CachedExchangeKey>>();
  return (input) => {
    const { subject, server, principal, options, claims, keyThumbprint } = input;
    // The identity changes with the credential files while the provider object stays the same.
    const { identity } = input.provider;
    let byServer = bySubject.get(subject);
    if (!byServer) bySubject.set(subject, (byServer = new WeakMap()));
    const cached = byServer.get(server);
    if (cached?.identity === identity && isSameInput(cached, input)) return cached.key;
    const key = exchangeKey({
      tenant: principal.tenant,
      principal: principalKey(principal),
      role: principal.role,
      serverId: server.id,
      revision: server.revision,
      securedBy: JSON.stringify(server.securityDecision ?? null),
      provider: identity,
      subject,
      audience: options.audience,
      resource: options.resource,
      scopes: scopeList(options.scopes),
      claims,
      keyThumbprint,
    });
    byServer.set(server, { ...input, identity, key });
    return key;
  };
}

function isSameInput(a: ExchangeKeyInput, b: ExchangeKeyInput): boolean {
  return (
    a.options === b.options &&
    a.claims === b.claims &&
    a.keyThumbprint === b.keyThumbprint &&
    a.principal.role === b.principal.role &&
    a.principal.userId === b.principal.userId &&
    a.principal.tenant === b.principal.tenant
  );
}

/** Everything that determines what a token permits. Requests that differ in any part never share a token. */
export interface KeyParts {
  readonly tenant: string;
  readonly principal: string;
  /** A provider may issue another token for another role. */
  readonly role: string;
  readonly serverId: string;
  readonly revision: string;
  /** The user who decided about the server's URL, and when. */
  readonly securedBy: string;
  readonly provider: ProviderIdentity;
  readonly subject: Pick<Subject, 'issuer' | 'subject' | 'hash'>;
  readonly audience: string | undefined;
  readonly resource: string | undefined;
  readonly scopes: readonly string[];
  readonly claims: string | undefined;
  readonly keyThumbprint: string | undefined;
}

/** SHA-256 of the parts as one JSON array. Different parts never have the same encoding, even with malformed text. */
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
    // A set: the order in the configuration has no meaning.
    [...new Set(parts.scopes)].sort(),
    parts.claims ?? null,
    parts.keyThumbprint ?? null,
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}

const MAX_CACHED_KEYS = 10_000;

/** The DPoP key for a user's exchanged tokens of one provider for one server. */
export type BoundKeys = (server: UserServer, principal: Principal, provider: string) => Prover;

/**
 * Derives the DPoP key of each user, server and provider from the gateway's secret. All replicas derive the same key, so each can use a
 * cached token. No key is stored, so a stolen cache is useless.
 */
export function createBoundKeys({
  keyring,
  dpop,
}: {
  readonly keyring: Pick<Keyring, 'mac'>;
  readonly dpop: Dpop;
}): BoundKeys {
  const cache = new LruMap<string, HiddenText>(MAX_CACHED_KEYS);
  return (server, principal, provider) => {
    const ownerKey = principalKey(principal);
    const keyId = JSON.stringify([ownerKey, server.tenant, server.id, provider]);
    let key = cache.get(keyId);
    if (!key) {
      const { tenant } = principal;
      const context = { tenant, principal: ownerKey, server: server.id, kind: 'dpop', field: 'key' };
      key = deriveDpopKey(keyring.mac(keyId, context));
      cache.set(keyId, key);
    }
    return dpop.proverFor(key);
  };
}
