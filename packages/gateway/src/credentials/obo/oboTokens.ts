import type { OboTargets } from '../../access/oboTargets.ts';
import type { OboTrust } from '../../access/oboTrust.ts';
import type { Principal } from '../../principal/principal.ts';
import type { ServerSnapshot, UserServer } from '../../registry/server.ts';
import type { Bearer } from '../../upstream/target.ts';
import { createLruMap } from '../lruMap.ts';
import type { BoundKeys } from './boundKeys.ts';
import type { About, Exchanger } from './exchanger.ts';
import type { Place } from './exchangeProvider.ts';
import { createExchangeKeys, type Wanted } from './exchangeKeys.ts';
import { createOboBearer } from './oboBearer.ts';
import type { ExchangeProviders } from './providers/exchangeProviders.ts';
import type { SubjectSource } from './subject.ts';

const MOST_REMEMBERED = 10_000;

/** What one call has cost so far: a listing that came before it is paid from the same. */
export interface Purse {
  /** Token requests. */
  requests: number;
  /** Whether a token was exchanged anew because the server refused one. */
  renewed: boolean;
}

export function createPurse(): Purse {
  return { requests: 0, renewed: false };
}

/** A wish for a token that nobody was asked for. */
export interface RefusedWish extends About {
  readonly error: unknown;
}

/** Without any of these no token could be obtained: each is required. */
export interface OboTokenParts {
  /** The server as it is defined now for this tenant; undefined when it is gone, or is another one by now. */
  readonly current: (server: UserServer, tenant: string) => ServerSnapshot | undefined;
  /** Whether who decides where the server leads may decide about users' tokens. Asked at every use. */
  readonly trust: Pick<OboTrust, 'isTrusted'>;
  /** Whether these scopes may go to that address. */
  readonly targets: Pick<OboTargets, 'problemOf'>;
  readonly subjects: Pick<SubjectSource, 'current'>;
  readonly providers: () => Pick<ExchangeProviders, 'find'>;
  /** The keys that tokens are bound to, where a provider binds them. */
  readonly boundKeys: BoundKeys;
  /** A server as an exchange for it sees it. */
  readonly placeOf: (server: UserServer) => Place;
  readonly exchanger: Pick<Exchanger, 'peek' | 'obtain' | 'force' | 'evict'>;
  /** Kept for the user's next sign-in. */
  readonly pendingClaims: { put(principal: string, claims: string): Promise<void> };
  /** Told of who got none before a provider was asked. */
  readonly refused: (wish: RefusedWish) => void;
}

/** Tokens that users' own tokens are exchanged for. */
export interface OboTokens {
  /** This caller's for a server, for as long as one call lasts. */
  bearerFor(server: UserServer, principal: Principal, wanted: Wanted, purse: Purse): Bearer;
}

export function createOboTokens(parts: OboTokenParts): OboTokens {
  const keyOf = createExchangeKeys();
  /** What a server asked to be proven, for later calls of the same sign-in. */
  const claimsAsked = createLruMap<string>(MOST_REMEMBERED);
  const shared = { ...parts, keyOf, claimsAsked };
  return {
    bearerFor: (server, principal, wanted, purse) =>
      createOboBearer(shared, { server, principal, wanted, purse }),
  };
}
