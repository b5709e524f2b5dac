import type { IncomingMessage } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import type { Audit, Log, ResolvedCaller, SignInSessions } from '@behalf/gateway';
import {
  type AuthorizationServerKeys,
  type AuthorizationServerRecords,
  type ClientGrants,
  type Consents,
  type GrantTokenCallers,
  createAuthorizationServerKeys,
  createAuthorizationServerRecords,
  createClientGrants,
  createConsents,
  createGrantTokenCallers,
  createIdJagVerifier,
} from '@behalf/gateway/authorization-server';
import type { ChangeFeed, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Fetch, Keyring, Random } from '@behalf/kernel';
import { type SessionCookie, createFlowCookie } from '../http/cookies.ts';
import type { RateLimits } from '../http/limits.ts';
import type { Origins } from '../http/origins.ts';
import { ALL_SERVERS_PATH } from '../http/resourceServer.ts';
import type { Route } from '../http/route.ts';
import { providerRoutes } from '../routes/authorization-server/endpoints.ts';
import { interactionRoutes } from '../routes/authorization-server/interactions.ts';
import {
  MCP_SCOPE,
  MOUNT_PATH,
  type TokenResources,
  cookieNames,
} from '../routes/authorization-server/issuer.ts';
import { type ClientFetchLimit, createClientFetch } from '../routes/authorization-server/limits.ts';
import {
  type ProviderSource,
  createProviderHandler,
  createProviderSource,
} from '../routes/authorization-server/providerSource.ts';
import { createLoginWithClaims } from '../routes/oauth/openId.ts';
import { ownClientRoutes } from '../routes/rest/user.ts';
import { type Disposables, setPeriodic } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import type { OpenId } from './openId.ts';

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

export interface AuthorizationServerRoutesParts extends Omit<ComposedAuthorizationServer, 'createRoutes'> {
  origins: () => Origins;
  cookie: () => SessionCookie;
  sessions: Pick<SignInSessions, 'resolve'>;
  openId: OpenId | null;
  audit: Audit;
  logger: Pick<Logger, 'warn'>;
  limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  clientAddressOf: (req: IncomingMessage) => string;
  clock: Clock;
}

/** Every door of our own authorization server. */
export function authorizationServerRoutes(parts: AuthorizationServerRoutesParts): Route[] {
  const { providerSource, fetchLimit, issuer, settings, origins, cookie, sessions, openId } = parts;
  const browser = openId?.browser ?? null;
  const handleWithProvider = createProviderHandler({
    ...{ providerSource, fetchLimit, issuer },
    sessionCookie: () => cookieNames(origins().secure).session,
  });
  const readSessionSecret = (req: IncomingMessage) => cookie().read(req);
  return [
    ...providerRoutes({ ...parts, handleWithProvider }),
    ...interactionRoutes({
      ...parts,
      isOperatorClient: (clientId) => Object.hasOwn(settings.clients, clientId),
      readSessionSecret,
      async findSignedInUser(req) {
        const sessionCookieSecret = readSessionSecret(req);
        const caller =
          sessionCookieSecret === null ? undefined : (await sessions.resolve(sessionCookieSecret))?.caller;
        return caller?.kind === 'user' ? caller : null;
      },
      login: openId &&
        browser && {
          issuer: openId.login.issuer,
          begin: createLoginWithClaims({ ...browser, logger: parts.logger }),
          cookie: () => createFlowCookie(origins(), browser.callbackPath),
        },
    }),
    ...ownClientRoutes(parts),
  ];
}
