import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Env } from '@behalf/contracts';
import {
  type AccessParts,
  type Audit,
  type CredentialVault,
  type IssuerSettings,
  type Log,
  type OAuthServices,
  type OAuthServicesParts,
  type Registry,
  type RetiringServers,
  type ServerDrafts,
  type SignInSessions,
  type UserPrincipal,
  createOAuthServices,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { SessionCookie } from '../http/cookies.ts';
import type { RateLimits } from '../http/limits.ts';
import type { Origins } from '../http/origins.ts';
import type { Route } from '../http/route.ts';
import { reauthRoute } from '../routes/admin/credentials.ts';
import { callbackRoute, resultRoutes } from '../routes/oauth/callback.ts';
import { clientDocumentRoutes } from '../routes/oauth/clientDocuments.ts';
import { connectLinkRoute, connectRoutes, createConnectLinks } from '../routes/oauth/connect.ts';
import { flowRoutes } from '../routes/oauth/flows.ts';
import type { SignInStats } from '../routes/ops/counters.ts';
import { credentialRoutes } from '../routes/rest/credentials.ts';
import { type Configuration, identityAddresses } from '../runtime/configuration.ts';
import { type Disposables, setPeriodic } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { type ReloadableNetwork, createIdentityIssuers } from '../runtime/network.ts';

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
  disposables: Disposables;
  egress: Pick<ReloadableNetwork, 'oauth' | 'identity' | 'identityTo'>;
  vault: CredentialVault;
  registry: Registry;
  retiring: RetiringServers;
  drafts: Pick<ServerDrafts, 'get'>;
  audit: Audit;
  valuesOf: OAuthServicesParts['servers']['readHolderValues'];
  probe: OAuthServicesParts['probe'];
  baseUrl: () => string;
  /** Where our documents stand, when that is not below `base`. */
  addresses?: OAuthServicesParts['clientUrls'];
}

/** Users' own grants at servers: how they are got, renewed and ended. */
export function composeOAuth(parts: ComposeOAuthParts): OAuthServices {
  const { env, configuration, primary, coordination, disposables, clock, egress, registry } = parts;
  const issuerSettings = (): IssuerSettings => {
    const settings = configuration.current();
    const login = env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER];
    return {
      issuers: settings.mcpSettings.issuers ?? {},
      identityUrls: [...login, ...identityAddresses(settings).map(({ url }) => url)],
    };
  };
  disposables.add(setPeriodic(SWEEP_MS, clock, () => primary.oauthFlows.removeExpired(clock.now())));
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
    network: egress.oauth,
    leases: coordination.leases,
    attempts: coordination.attempts,
    changes: coordination.changes,
    cache: coordination.cache('issuers'),
    identity: createIdentityIssuers({ env, configuration, egress, clock }),
    readText: (file) => readFile(file, 'utf8'),
    durations: { pendingMs: env.MCP_OAUTH_HANDLING_TIMEOUT, retentionMs: env.MCP_OAUTH_FLOW_TTL },
    detectionTimeoutMs: env.MCP_OAUTH_DETECTION_TIMEOUT,
    issuerSettings,
    vault: parts.vault,
    audit: parts.audit,
    keyring: parts.keyring,
    clock,
    random: parts.random,
    log: parts.log,
    baseUrl: parts.baseUrl,
    ...(parts.addresses && { clientUrls: parts.addresses }),
    probe: parts.probe,
  });
}

interface OAuthRouteParts extends AccessParts {
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
  signInStats: Pick<SignInStats, 'count'>;
  cookie: () => SessionCookie;
  origins: () => Origins;
  limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  clientAddressOf: (req: IncomingMessage) => string;
  invalidateUserState: (serverId: string, principal: string) => Promise<void>;
}

/** Every door of it. */
export function oauthRoutes(parts: OAuthRouteParts): Route[] {
  const { oauth, vault, registry, primary, audit, sessions, cookie, origins } = parts;
  const common = { ...parts, usage: primary.credentialUsage, flows: primary.oauthFlows };
  const findSignedInUser = async (req: IncomingMessage): Promise<UserPrincipal | null> => {
    const secret = cookie().read(req);
    const caller = secret === null ? undefined : (await sessions.resolve(secret))?.caller;
    return caller?.kind === 'user' ? caller : null;
  };
  return [
    ...flowRoutes(common),
    connectLinkRoute({ connectLinks: createConnectLinks(parts), requirePermission: parts.requirePermission }),
    ...connectRoutes({ ...common, findSignedInUser }),
    callbackRoute({ ...common, findSignedInUser }),
    ...credentialRoutes(common),
    ...clientDocumentRoutes({
      ...{ oauth, servers: () => registry.listAll(), baseUrl: () => origins().baseUrl },
      isDraft: (id) => parts.drafts.exists(id),
    }),
    ...resultRoutes(),
    reauthRoute({ registry, vault, users: primary.users, audit }),
  ];
}
