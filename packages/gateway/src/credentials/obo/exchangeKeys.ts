import { scopeList } from '@behalf/contracts';
import { principalKey, type Principal } from '../../principal/principal.ts';
import type { UserServer } from '../../registry/server.ts';
import { exchangeKey } from './exchangeKey.ts';
import type { ExchangeProvider, ProviderIdentity } from './exchangeProvider.ts';
import type { Subject } from './subject.ts';

/** What is asked for on somebody's behalf. */
export interface Wanted {
  readonly scopes: string;
  readonly provider?: string | undefined;
  readonly grant?: 'jwt-bearer' | 'token-exchange' | undefined;
  readonly audience?: string | undefined;
  readonly resource?: string | undefined;
}

export interface Wish {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly wanted: Wanted;
  readonly subject: Subject;
  readonly provider: ExchangeProvider;
  readonly claims: string | undefined;
  /** Names the key that the token is bound to; undefined for a bearer token. */
  readonly keyThumbprint: string | undefined;
}

interface Named extends Wish {
  readonly identity: ProviderIdentity;
  readonly key: string;
}

/** Names the token that a wish is for. */
export type ExchangeKeys = (wish: Wish) => string;

/** Every call asks for its key; subjects and definitions are the same objects call after call. */
export function createExchangeKeys(): ExchangeKeys {
  const known = new WeakMap<Subject, WeakMap<UserServer, Named>>();
  return (wish) => {
    const { subject, server } = wish;
    // It changes with the client's key, while the provider stays the same.
    const { identity } = wish.provider;
    let ofSubject = known.get(subject);
    if (!ofSubject) known.set(subject, (ofSubject = new WeakMap()));
    const last = ofSubject.get(server);
    if (last?.identity === identity && isSame(last, wish)) return last.key;
    const key = keyOf(wish);
    ofSubject.set(server, { ...wish, identity, key });
    return key;
  };
}

function isSame(a: Wish, b: Wish): boolean {
  return (
    a.wanted === b.wanted &&
    a.claims === b.claims &&
    a.keyThumbprint === b.keyThumbprint &&
    a.principal.role === b.principal.role &&
    a.principal.userId === b.principal.userId &&
    a.principal.tenant === b.principal.tenant
  );
}

function keyOf({ server, principal, wanted, subject, provider, claims, keyThumbprint }: Wish): string {
  return exchangeKey({
    tenant: principal.tenant,
    principal: principalKey(principal),
    role: principal.role,
    serverId: server.id,
    revision: server.revision,
    author: JSON.stringify(server.secured ?? null),
    provider: provider.identity,
    subject,
    audience: wanted.audience,
    resource: wanted.resource,
    scopes: scopeList(wanted.scopes),
    claims,
    keyThumbprint,
  });
}
