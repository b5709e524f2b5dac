import { createHash } from 'node:crypto';
import { scopeList } from '@behalf/contracts';
import type { HiddenText, Keyring } from '@behalf/kernel';
import { type Principal, principalKey } from '../../principal/principal.ts';
import type { UserServer } from '../../servers/definition.ts';
import { createLruMap } from '../lruMap.ts';
import { type Dpop, type Prover, deriveDpopKey } from '../oauth/dpop.ts';
import type { ExchangeProvider, ProviderIdentity } from './exchangeProvider.ts';
import type { Subject } from './subject.ts';

/** What is asked for on somebody's behalf. */
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
  /** Names the key that the token is bound to; undefined for a bearer token. */
  readonly keyThumbprint: string | undefined;
}

interface CachedExchangeKey extends ExchangeKeyInput {
  readonly identity: ProviderIdentity;
  readonly key: string;
}

/** Names the token that a wish is for. */
export type ComputeExchangeKey = (input: ExchangeKeyInput) => string;

/** Every call asks for its key; subjects and definitions are the same objects call after call. */
export function createExchangeKeyCache(): ComputeExchangeKey {
  const bySubject = new WeakMap<Subject, WeakMap<UserServer, CachedExchangeKey>>();
  return (input) => {
    const { subject, server } = input;
    // It changes with the client's key, while the provider stays the same.
    const { identity } = input.provider;
    let byServer = bySubject.get(subject);
    if (!byServer) bySubject.set(subject, (byServer = new WeakMap()));
    const cached = byServer.get(server);
    if (cached?.identity === identity && isSameInput(cached, input)) return cached.key;
    const key = computeKey(input);
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

function computeKey({
  server,
  principal,
  options,
  subject,
  provider,
  claims,
  keyThumbprint,
}: ExchangeKeyInput): string {
  return exchangeKey({
    tenant: principal.tenant,
    principal: principalKey(principal),
    role: principal.role,
    serverId: server.id,
    revision: server.revision,
    securedBy: JSON.stringify(server.securityDecision ?? null),
    provider: provider.identity,
    subject,
    audience: options.audience,
    resource: options.resource,
    scopes: scopeList(options.scopes),
    claims,
    keyThumbprint,
  });
}

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

const MAX_CACHED_KEYS = 10_000;

/** The key that a user's exchanged tokens for one server are bound to. */
export type BoundKeys = (server: UserServer, principal: Principal, provider: string) => Prover;

/**
 * A key of its own for each user, server and provider. It follows from our secret, so that every replica has the same one and
 * none is kept: whoever finds a token in the cache can use it, and who steals the cache can use none.
 */
export function createBoundKeys({
  keyring,
  dpop,
}: {
  readonly keyring: Pick<Keyring, 'mac'>;
  readonly dpop: Dpop;
}): BoundKeys {
  const cache = createLruMap<HiddenText>(MAX_CACHED_KEYS);
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
