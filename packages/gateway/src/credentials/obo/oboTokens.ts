import type { OboTargets } from '../../access/oboTargets.ts';
import type { OboTrust } from '../../access/oboTrust.ts';
import type { Principal } from '../../principal/principal.ts';
import type { ServerSnapshot, UserServer } from '../../registry/server.ts';
import type { Bearer } from '../../upstream/target.ts';
import { createLruMap } from '../lruMap.ts';
import type { BoundKeys } from './boundKeys.ts';
import type { ExchangeContext, Exchanger } from './exchanger.ts';
import type { ExchangeResource } from './exchangeProvider.ts';
import { createExchangeKeyCache, type OboOptions } from './exchangeKeyCache.ts';
import { createOboBearer } from './oboBearer.ts';
import type { ExchangeProviders } from './providers/exchangeProviders.ts';
import type { SubjectSource } from './subject.ts';

const MAX_REQUESTED_CLAIMS = 10_000;

/** What one call has cost so far: a listing that came before it is paid from the same. */
export interface TokenRequestBudget {
  /** Token requests. */
  requests: number;
  /** Whether a token was exchanged anew because the server refused one. */
  isRenewed: boolean;
}

export function createTokenRequestBudget(): TokenRequestBudget {
  return { requests: 0, isRenewed: false };
}

/** A wish for a token that nobody was asked for. */
export interface RefusedExchange extends ExchangeContext {
  readonly error: unknown;
}

/** Without any of these no token could be obtained: each is required. */
export interface OboTokenParts {
  /** The server as it is defined now for this tenant; undefined when it is gone, or is another one by now. */
  readonly getCurrentServer: (server: UserServer, tenant: string) => ServerSnapshot | undefined;
  /** Whether who decides where the server leads may decide about users' tokens. Asked at every use. */
  readonly trust: Pick<OboTrust, 'isTrusted'>;
  /** Whether these scopes may go to that address. */
  readonly targets: Pick<OboTargets, 'findProblem'>;
  readonly subjects: Pick<SubjectSource, 'current'>;
  readonly providers: () => Pick<ExchangeProviders, 'find'>;
  /** The keys that tokens are bound to, where a provider binds them. */
  readonly boundKeys: BoundKeys;
  /** A server as an exchange for it sees it. */
  readonly resourceOf: (server: UserServer) => ExchangeResource;
  readonly exchanger: Pick<Exchanger, 'peek' | 'obtain' | 'force' | 'evict'>;
  /** Kept for the user's next sign-in. */
  readonly pendingClaims: { put(principal: string, claims: string): Promise<void> };
  /** Told of who got none before a provider was asked. */
  readonly onRefused: (refusal: RefusedExchange) => void;
}

/** Tokens that users' own tokens are exchanged for. */
export interface OboTokens {
  /** This caller's for a server, for as long as one call lasts. */
  bearerFor(
    server: UserServer,
    principal: Principal,
    options: OboOptions,
    budget: TokenRequestBudget,
  ): Bearer;
}

export function createOboTokens(parts: OboTokenParts): OboTokens {
  const keyOf = createExchangeKeyCache();
  /** What a server asked to be proven, for later calls of the same sign-in. */
  const requestedClaims = createLruMap<string>(MAX_REQUESTED_CLAIMS);
  const bearerParts = { ...parts, keyOf, requestedClaims };
  return {
    bearerFor: (server, principal, options, budget) =>
      createOboBearer(bearerParts, { server, principal, options, budget }),
  };
}
