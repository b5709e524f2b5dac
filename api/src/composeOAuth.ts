import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Env } from '@behalf/contracts';
import {
  createOAuthServices,
  type AccessParts,
  type Audit,
  type ServerDrafts,
  type CredentialVault,
  type IssuerSettings,
  type Log,
  type OAuthServices,
  type OAuthServicesParts,
  type Registry,
  type RetiringServers,
  type SignInSessions,
  type UserPrincipal,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { Closers } from './closers.ts';
import type { Configuration } from './configuration.ts';
import type { SessionCookie } from './cookies.ts';
import type { RateLimits } from './door/rateLimits.ts';
import type { Route } from './http.ts';
import { identityAddresses } from './identityAddresses.ts';
import { createIdentityIssuers } from './identityIssuers.ts';
import type { Logger } from './logger.ts';
import type { SwappableNetwork } from './network.ts';
import { askedRoute } from './oauth/askedRoute.ts';
import { callbackRoute } from './oauth/callbackRoute.ts';
import { clientDocumentRoutes } from './oauth/clientDocumentRoutes.ts';
import { createConnectLinks } from './oauth/connectLinks.ts';
import { connectRoutes } from './oauth/connectRoutes.ts';
import { credentialRoutes } from './oauth/credentialRoutes.ts';
import { flowRoutes } from './oauth/flowRoutes.ts';
import { reauthRoute } from './oauth/reauthRoute.ts';
import { resultRoutes } from './oauth/resultRoutes.ts';
import type { SignInStats } from './ops/signInStats.ts';
import { every } from './ops/upkeep.ts';
import type { Origins } from './origins.ts';

const SWEEP_MS = 60 * 1000;

export interface ComposeOAuthParts {
  env: Env;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  configuration: Configuration;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  closers: Closers;
  door: Pick<SwappableNetwork, 'oauth' | 'identity' | 'identityTo'>;
  vault: CredentialVault;
  registry: Registry;
  retiring: RetiringServers;
  drafts: Pick<ServerDrafts, 'get'>;
  audit: Audit;
  valuesOf: OAuthServicesParts['servers']['readHolderValues'];
  probe: OAuthServicesParts['probe'];
  base: () => string;
  /** Where our documents stand, when that is not below `base`. */
  addresses?: OAuthServicesParts['clientUrls'];
}

/** Users' own grants at servers: how they are got, renewed and ended. */
export function composeOAuth(parts: ComposeOAuthParts): OAuthServices {
  const { env, configuration, primary, coordination, closers, clock, door, registry } = parts;
  const book = (): IssuerSettings => {
    const settings = configuration.current();
    const login = env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER];
    return {
      issuers: settings.mcpSettings.issuers ?? {},
      identityUrls: [...login, ...identityAddresses(settings).map(({ url }) => url)],
    };
  };
  closers.add(every(SWEEP_MS, clock, () => primary.oauthFlows.removeExpired(clock.now())));
  return createOAuthServices({
    flows: primary.oauthFlows,
    oauthClients: primary.oauthClients,
    credentials: primary.credentials,
    servers: {
      get: (tenant, id) =>
        registry.get(tenant, id) ?? parts.retiring.get(tenant, id) ?? parts.drafts.get(tenant, id),
      all: () => registry.listAll(),
      readHolderValues: parts.valuesOf,
    },
    network: door.oauth,
    leases: coordination.leases,
    attempts: coordination.attempts,
    changes: coordination.changes,
    cache: coordination.cache('issuers'),
    identity: createIdentityIssuers({ env, configuration, door, clock }),
    readText: (file) => readFile(file, 'utf8'),
    times: { pendingMs: env.MCP_OAUTH_HANDLING_TIMEOUT, retentionMs: env.MCP_OAUTH_FLOW_TTL },
    detectionTimeoutMs: env.MCP_OAUTH_DETECTION_TIMEOUT,
    issuerSettings: book,
    vault: parts.vault,
    audit: parts.audit,
    keyring: parts.keyring,
    clock,
    random: parts.random,
    log: parts.log,
    base: parts.base,
    ...(parts.addresses && { clientUrls: parts.addresses }),
    probe: parts.probe,
  });
}

export interface OAuthRouteParts extends AccessParts {
  clock: Clock;
  keyring: Keyring;
  oauth: OAuthServices;
  drafts: Pick<ServerDrafts, 'authorize' | 'exists'>;
  vault: CredentialVault;
  registry: Registry;
  primary: PrimaryStore;
  audit: Audit;
  logger: Logger;
  sessions: Pick<SignInSessions, 'resolve'>;
  signIns: Pick<SignInStats, 'count'>;
  cookie: () => SessionCookie;
  origins: () => Origins;
  limits: Pick<RateLimits, 'checkAddress' | 'refused'>;
  addressOf: (req: IncomingMessage) => string;
  forget: (serverId: string, principal: string) => Promise<void>;
}

/** Every door of it. */
export function oauthRoutes(parts: OAuthRouteParts): Route[] {
  const { oauth, vault, registry, primary, audit, sessions, cookie, origins } = parts;
  const common = { ...parts, usage: primary.credentialUsage, flows: primary.oauthFlows };
  const signedIn = async (req: IncomingMessage): Promise<UserPrincipal | null> => {
    const secret = cookie().read(req);
    const caller = secret === null ? undefined : (await sessions.resolve(secret))?.caller;
    return caller?.kind === 'user' ? caller : null;
  };
  return [
    ...flowRoutes(common),
    askedRoute({ links: createConnectLinks(parts), requirePermission: parts.requirePermission }),
    ...connectRoutes({ ...common, signedIn }),
    callbackRoute({ ...common, signedIn }),
    ...credentialRoutes(common),
    ...clientDocumentRoutes({
      ...{ oauth, servers: () => registry.listAll(), base: () => origins().base },
      isDraft: (id) => parts.drafts.exists(id),
    }),
    ...resultRoutes(),
    reauthRoute({ registry, vault, users: primary.users, audit }),
  ];
}
