import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from '@behalf/contracts';
import { toPrincipal, type UserPrincipal } from '@behalf/gateway';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createDisposables } from '../../api/src/runtime/lifecycle.ts';
import { composeAccess, composeAudit, type ComposedAccess } from '../../api/src/compose/access.ts';
import type { ComposeContext } from '../../api/src/compose/context.ts';
import { composeServers, type Servers } from '../../api/src/compose/servers.ts';
import { composeIdentityProvider } from '../../api/src/compose/openId.ts';
import { composeVault } from '../../api/src/compose/vault.ts';
import { createConfiguration } from '../../api/src/runtime/configuration.ts';
import { createRateLimits } from '../../api/src/http/limits.ts';
import { createPublicAddress } from '../../api/src/http/origins.ts';
import { createEndpointResources } from '../../api/src/http/resourceServer.ts';
import type { ReloadableNetwork } from '../../api/src/runtime/network.ts';
import { createExchangeStats, createRefreshStats } from '../../api/src/routes/ops/counters.ts';
import type { GatewayDefinition, Login } from './definition.ts';

/** What the one server is called. */
export const SERVER_NAME = 'conformance';

/** Where the suite expects our client metadata document to stand. Nobody fetches it. */
const PUBLIC_URL = 'https://conformance-test.local';

export interface ConformanceGateway extends Pick<Servers, 'callParts' | 'oauth'> {
  readonly user: UserPrincipal;
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** A folder of its own. */
  readonly directory: string;
  readonly definition: GatewayDefinition;
  readonly network: ReloadableNetwork;
  readonly log: (event: string, fields?: object) => void;
}

/** The gateway as its process composes it, with one server, one user and a store that forgets. */
export async function openGateway({
  directory,
  definition,
  network,
  log,
}: GatewayOptions): Promise<ConformanceGateway> {
  const [clock, random] = [systemClock, systemRandom];
  const settingsFile = join(directory, 'librechat.yaml');
  const { server, identityProviders = {}, login } = definition;
  await writeFile(settingsFile, JSON.stringify({ mcpServers: { [SERVER_NAME]: server }, identityProviders }));
  const environment = {
    CONFIG_PATH: settingsFile,
    ...(login && { OPENID_ISSUER: login.issuer, OPENID_CLIENT_ID: login.clientId }),
  };
  const parsedEnv = parseEnv(environment);
  if (!parsedEnv.ok) throw new Error(JSON.stringify(parsedEnv.diagnostics));
  const logger = { error: log, warn: log, info: log, debug: log };
  const disposables = createDisposables((error) => log('not_closed', { error: String(error) }));
  const store = openMemoryStore({ clock, random });
  disposables.add(() => store.close());
  const address = { ...createPublicAddress(parsedEnv.env), baseUrl: () => PUBLIC_URL };
  const context: ComposeContext = {
    ...{ env: parsedEnv.env, record: environment, clock, random, log, logger, disposables, egress: network },
    ...{ primary: store, coordination: store },
    configuration: createConfiguration({ env: parsedEnv.env, record: environment, logger }),
    keyring: createKeyring([random.bytes(32)], random),
    address,
  };
  const audit = composeAudit(context);
  const identityProvider = login ? composeIdentityProvider(context) : null;
  const vault = composeVault(context, {
    ...{ audit, refreshes: createRefreshStats(), loginGrants: identityProvider?.grantContexts ?? null },
    serverGrants: () => servers.oauth,
  });
  const access = await composeAccess(context, {
    ...{ audit, vault: vault.vault, identityProvider, endpoints: createEndpointResources(address) },
    limits: createRateLimits({ clock, perMinute: { calls: 1, writes: 1 } }),
    clientAddressOf: () => '',
  });
  const servers: Servers = await composeServers(context, {
    ...{ access, vault, exchanges: createExchangeStats() },
    clientUrls: () => ({
      redirectUri: `${PUBLIC_URL}/api/mcp/${SERVER_NAME}/oauth/callback`,
      documentUrl: null,
      publicDocumentUrl: `${PUBLIC_URL}/client-metadata.json`,
    }),
  });
  const { callParts, oauth } = servers;
  const user = login ? await signInUser(access, login) : await createLocalUser(access);
  return { callParts, oauth, user, close: () => disposables.disposeAll() };
}

async function createLocalUser({ accounts }: Pick<ComposedAccess, 'accounts'>): Promise<UserPrincipal> {
  const account = { email: 'ada@example.com', name: 'Ada', password: systemRandom.id(), role: 'USER' };
  return toPrincipal(await accounts.create(account), { via: 'session', session: systemRandom.id() });
}

const HOUR_MS = 60 * 60 * 1000;

/** Somebody whom the provider has signed in, with what it gave for that. */
async function signInUser({ openId }: Pick<ComposedAccess, 'openId'>, login: Login): Promise<UserPrincipal> {
  const browser = openId?.browser;
  if (!browser) throw new Error('Nobody can sign in');
  const { issuer, clientId, idToken } = login;
  const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) as {
    sub: string;
  };
  const { sub: subject } = claims;
  const expiresAt = systemClock.now() + HOUR_MS;
  const user = await browser.provisioning.userFor({
    ...{
      kind: 'user',
      issuer,
      subject,
      tenant: 'default',
      email: subject,
      name: 'Ada',
      roles: [],
      groups: [],
    },
    ...{ hasAdminRole: false, isAdmitted: true, issuedAt: systemClock.now(), expiresAt, clientId },
  });
  if (!user) throw new Error('They may not come in');
  const tokens = { issuer, subject, accessToken: systemRandom.id(), idToken, expiresAt };
  const session = await browser.startSession(user, { via: 'openid', groups: [], tokens });
  return toPrincipal(user, { via: 'session', session: session.hash });
}
