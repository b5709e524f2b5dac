import type { AuthorizationServer } from '@behalf/contracts';
import type { ResolvedCaller, Log, SignInSessions } from '@behalf/gateway';
import {
  createClientGrants,
  createConsents,
  createAuthorizationServerKeys,
  createAuthorizationServerRecords,
  createGrantTokenCallers,
  createIdJagVerifier,
  type ClientGrants,
  type Consents,
  type AuthorizationServerKeys,
  type AuthorizationServerRecords,
  type GrantTokenCallers,
} from '@behalf/gateway/facade';
import type { ChangeFeed, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Fetch, Keyring, Random } from '@behalf/kernel';
import type { Closers } from './closers.ts';
import type { OpenId } from './composeOpenId.ts';
import type { AskLimit } from './facade/askLimit.ts';
import { createClientFetch } from './facade/clientFetch.ts';
import { facadeDoors, type DoorParts } from './facade/doors.ts';
import { createFacade, type Facade } from './facade/facade.ts';
import { MOUNT, SCOPE, type Resources } from './facade/resources.ts';
import type { Route } from './http.ts';
import { every } from './ops/upkeep.ts';
import { ALL_PATH } from './resource/endpoints.ts';

const SWEEP_MS = 10 * 60 * 1000;

export interface ComposeFacadeParts {
  settings: Readonly<AuthorizationServer>;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  changes: ChangeFeed;
  closers: Closers;
  sessions: SignInSessions;
  openId: OpenId | null;
  /** Where browsers and clients reach us. */
  base: () => string;
  /** Whether this is the address of an MCP endpoint of ours. */
  isEndpoint: (url: string) => boolean;
  /** To clients' documents. */
  documents: Fetch;
  /** How often, and for whom. */
  asks: AskLimit;
}

/** Our own authorization server: who comes with its tokens, and what it remembers. */
export interface ComposedFacade {
  readonly settings: Readonly<AuthorizationServer>;
  readonly issuer: () => string;
  /** Whether an identity provider may vouch for its users here. */
  readonly takesIdJags: boolean;
  readonly facade: Facade;
  readonly asks: AskLimit;
  readonly resources: Resources;
  readonly records: AuthorizationServerRecords;
  readonly keys: AuthorizationServerKeys;
  readonly grants: ClientGrants;
  readonly consents: Consents;
  readonly bearers: GrantTokenCallers;
  doors(parts: FacadeDoorParts): Route[];
}

export type FacadeDoorParts = Omit<DoorParts, keyof ComposedFacade | 'openId' | 'clock'>;

export function composeFacade(parts: ComposeFacadeParts): ComposedFacade {
  const { settings, clock, random, keyring, log, primary, closers, sessions, openId, base, asks } = parts;
  const { users } = primary;
  const issuer = () => `${base()}${MOUNT}`;
  const isResource = parts.isEndpoint;
  const resources: Resources = { isResource, fallback: () => `${base()}${ALL_PATH}` };
  const records = createAuthorizationServerRecords({ store: primary.authorizationServer, keyring, clock });
  closers.add(every(SWEEP_MS, clock, () => records.sweep()));
  const keys = createAuthorizationServerKeys({ records, changes: parts.changes, random, clock });
  closers.add(() => keys.close());
  const grants = createClientGrants({ sessions, clock });
  const consents = createConsents({ records, clock });
  const bearers = createGrantTokenCallers({
    ...{ issuer, isResource, sessions, users, clock, log },
    keys: keys.keySource,
  });
  const trusted = openId?.trust(settings.idJagIssuers, settings.idJagTenants);
  const takesIdJags = trusted !== undefined && trusted.size > 0;
  const facade = createFacade({
    ...{ settings, issuer, resources, keys, records, grants, users, clock, random, log },
    secure: () => base().startsWith('https:'),
    fetch: createClientFetch({ fetch: parts.documents, asks, clock }),
    idJags:
      openId && trusted && takesIdJags
        ? {
            accept: createIdJagVerifier({
              ...{ issuers: trusted, audience: issuer, isResource, scope: SCOPE, records, clock, log },
            }),
            provisioning: openId.provisioning,
          }
        : null,
  });
  const composed = {
    ...{ settings, issuer, takesIdJags, facade, asks, resources, records },
    ...{ keys, grants, consents, bearers },
  };
  return { ...composed, doors: (more) => facadeDoors({ ...composed, ...more, openId, clock }) };
}

/** Who shows this token: of our own, or of the identity provider. Each is judged by its issuer's rules alone. */
export function resolveBearer(
  token: string,
  facade: Pick<ComposedFacade, 'bearers'> | null,
  openId: Pick<OpenId, 'bearers'> | null,
): Promise<ResolvedCaller | null> {
  if (facade?.bearers.isOwnToken(token)) return facade.bearers.resolve(token);
  return openId ? openId.bearers.resolve(token) : Promise.resolve(null);
}
