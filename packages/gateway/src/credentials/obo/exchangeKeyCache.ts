import { scopeList } from '@behalf/contracts';
import { principalKey, type Principal } from '../../principal/principal.ts';
import type { UserServer } from '../../registry/server.ts';
import { exchangeKey } from './exchangeKey.ts';
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

export interface ExchangeKeyInput {
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
