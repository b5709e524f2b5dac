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
import type { Disposables } from './disposables.ts';
import type { OpenId } from './composeOpenId.ts';
import type { ClientFetchLimit } from './authorizationServer/clientFetchLimit.ts';
import { createClientFetch } from './authorizationServer/clientFetch.ts';
import {
  authorizationServerRoutes,
  type AuthorizationServerRoutesParts,
} from './authorizationServer/routes.ts';
import { createProviderSource, type ProviderSource } from './authorizationServer/providerSource.ts';
import { MOUNT_PATH, MCP_SCOPE, type TokenResources } from './authorizationServer/resources.ts';
import type { Route } from './http/routes.ts';
import { setPeriodic } from './ops/setPeriodic.ts';
import { ALL_SERVERS_PATH } from './resource/endpointResources.ts';

const SWEEP_MS = 10 * 60 * 1000;

export interface ComposeAuthorizationServerParts {
  settings: Readonly<AuthorizationServer>;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  changes: ChangeFeed;
  disposables: Disposables;
  sessions: SignInSessions;
  openId: OpenId | null;
  /** Where browsers and clients reach us. */
  baseUrl: () => string;
  /** Whether this is the address of an MCP endpoint of ours. */
  isEndpoint: (url: string) => boolean;
  /** To clients' documents. */
  documents: Fetch;
  /** How often, and for whom. */
  fetchLimit: ClientFetchLimit;
}

/** Our own authorization server: who comes with its tokens, and what it remembers. */
export interface ComposedAuthorizationServer {
  readonly settings: Readonly<AuthorizationServer>;
  readonly issuer: () => string;
  /** Whether an identity provider may vouch for its users here. */
  readonly acceptsIdJags: boolean;
  readonly providerSource: ProviderSource;
  readonly fetchLimit: ClientFetchLimit;
  readonly resources: TokenResources;
  readonly records: AuthorizationServerRecords;
  readonly keys: AuthorizationServerKeys;
  readonly grants: ClientGrants;
  readonly consents: Consents;
  readonly bearers: GrantTokenCallers;
  createRoutes(parts: AuthorizationServerRouteParts): Route[];
}

export type AuthorizationServerRouteParts = Omit<
  AuthorizationServerRoutesParts,
  keyof ComposedAuthorizationServer | 'openId' | 'clock'
>;

export function composeAuthorizationServer(
  parts: ComposeAuthorizationServerParts,
): ComposedAuthorizationServer {
  const {
    settings,
    clock,
    random,
    keyring,
    log,
    primary,
    disposables,
    sessions,
    openId,
    baseUrl,
    fetchLimit,
  } = parts;
  const { users } = primary;
  const issuer = () => `${baseUrl()}${MOUNT_PATH}`;
  const isResource = parts.isEndpoint;
  const resources: TokenResources = { isResource, defaultResource: () => `${baseUrl()}${ALL_SERVERS_PATH}` };
  const records = createAuthorizationServerRecords({ store: primary.authorizationServer, keyring, clock });
  disposables.add(setPeriodic(SWEEP_MS, clock, () => records.sweep()));
  const keys = createAuthorizationServerKeys({ records, changes: parts.changes, random, clock });
  disposables.add(() => keys.close());
  const grants = createClientGrants({ sessions, clock });
  const consents = createConsents({ records, clock });
  const bearers = createGrantTokenCallers({
    ...{ issuer, isResource, sessions, users, clock, log },
    keys: keys.keySource,
  });
  const trusted = openId?.trust(settings.idJagIssuers, settings.idJagTenants);
  const acceptsIdJags = trusted !== undefined && trusted.size > 0;
  const providerSource = createProviderSource({
    ...{ settings, issuer, resources, keys, records, grants, users, clock, random, log },
    secure: () => baseUrl().startsWith('https:'),
    fetch: createClientFetch({ fetch: parts.documents, fetchLimit, clock }),
    idJags:
      openId && trusted && acceptsIdJags
        ? {
            accept: createIdJagVerifier({
              ...{ issuers: trusted, audience: issuer, isResource, scope: MCP_SCOPE, records, clock, log },
            }),
            provisioning: openId.provisioning,
          }
        : null,
  });
  const composed = {
    ...{ settings, issuer, acceptsIdJags, providerSource, fetchLimit, resources, records },
    ...{ keys, grants, consents, bearers },
  };
  return {
    ...composed,
    createRoutes: (more) => authorizationServerRoutes({ ...composed, ...more, openId, clock }),
  };
}

/** Who shows this token: of our own, or of the identity provider. Each is judged by its issuer's rules alone. */
export function resolveBearer(
  token: string,
  authorizationServer: Pick<ComposedAuthorizationServer, 'bearers'> | null,
  openId: Pick<OpenId, 'bearers'> | null,
): Promise<ResolvedCaller | null> {
  if (authorizationServer?.bearers.isOwnToken(token)) return authorizationServer.bearers.resolve(token);
  return openId ? openId.bearers.resolve(token) : Promise.resolve(null);
}
