import {
  createExchanger,
  createExchangeProviders,
  createOboTargets,
  createOboTrust,
  createRegistry,
  createSubjectSource,
  DEFAULT_TENANT,
  toPrincipal,
  type OboTokenParts,
  type UserPrincipal,
  type UserServer,
} from '@behalf/gateway';
import { createKeyring, HiddenText, systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { readGraphScopes, loadSettings } from '@behalf/settings';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { BENCH_CLIENT, BENCH_RESOURCE } from './rig.ts';

const ISSUER = 'https://login.example';
const HOUR_MS = 60 * 60 * 1_000;

export interface ComposedExchange {
  readonly parts: OboTokenParts;
  readonly server: UserServer;
  readonly requestedScopes: { readonly scopes: string };
  readonly principals: readonly UserPrincipal[];
  /** The number of exchanges so far. */
  readonly exchanges: () => number;
  readonly close: () => Promise<void>;
}

/** The real components of an exchange, with a provider that responds immediately and an in-memory store. */
export async function composeExchange(users: number): Promise<ComposedExchange> {
  const log = () => undefined;
  const store = openMemoryStore({ clock, random });
  const { changes, leases, cache } = store;
  const obo = { provider: 'bench', scopes: BENCH_RESOURCE.scopes.join(' '), audience: BENCH_RESOURCE.id };
  const loadResult = loadSettings(
    JSON.stringify({
      identityProviders: {
        bench: {
          ...{ type: 'jwt-bearer', tokenEndpoint: `${ISSUER}/token` },
          ...{ clientId: BENCH_CLIENT.id, clientSecret: BENCH_CLIENT.secret },
        },
      },
      mcpServers: { mail: { type: 'streamable-http', url: 'https://mail.example/mcp', obo } },
    }),
    { env: {} },
  );
  if (!loadResult.ok) throw new Error(JSON.stringify(loadResult.diagnostics));
  const { settings } = loadResult;
  const registry = createRegistry({
    ...{ env: {}, enforcedRestrictions: new Set(), hasFailedInspection: () => false, log },
    appBearer: () => {
      throw new Error('No server uses client credentials');
    },
  });
  registry.update({ settings, isBuiltIn: false, definitions: {}, overrides: [] });
  const server = registry.find(DEFAULT_TENANT, 'mail');
  if (server?.scope !== 'user' || !('obo' in server.settings) || !server.settings.obo) {
    throw new Error('The server does not exchange');
  }

  const principals: UserPrincipal[] = [];
  for (let index = 0; index < users; index += 1) principals.push(await createSignedInPrincipal(store, index));
  let exchanges = 0;
  const providers = createExchangeProviders({
    providers: settings.identityProviders,
    login: null,
    fetchFor: () => () => {
      exchanges += 1;
      const response = { access_token: `token-${exchanges}`, token_type: 'Bearer', expires_in: 3600 };
      return Promise.resolve(Response.json(response));
    },
    readText: () => Promise.reject(new Error('Nothing is read')),
    ...{ clock, random, log },
  });
  const trust = createOboTrust({
    ...{ users: store.users, changes, clock, log, audit: { note: log }, authorMaxAgeMs: HOUR_MS },
    // The servers come from YAML, so no role is checked.
    roles: { roleHasPermission: () => false, isFresh: () => true, refresh: async () => undefined },
  });
  const noSubject = async () => ({ kind: 'absent' as const });
  const subjects = createSubjectSource({
    login: { issuer: ISSUER, tokens: { current: noSubject, renew: noSubject, withRefreshToken: noSubject } },
    sessions: { list: async () => [] },
    ...{ users: store.users, changes, clock },
  });
  const exchanger = createExchanger({
    cache: cache('obo'),
    keyring: createKeyring([new Uint8Array(32).fill(7)], random),
    ...{ leases, clock, random, log, record: log },
  });
  return {
    parts: {
      getCurrentServer: ({ name }, tenant) => registry.find(tenant, name),
      targets: createOboTargets({
        ...{ providers: () => settings.identityProviders, declaredServers: () => settings.servers },
        ...{ login: () => null, graphScopes: readGraphScopes({}) },
      }),
      ...{ trust, subjects, exchanger, providers: () => providers },
      boundKeys: () => {
        throw new Error('No token is bound to a key here');
      },
      resourceOf: () => ({ url: '', authorizationServers: async () => [] }),
      pendingClaims: { put: async () => undefined },
      onRefused: log,
    },
    server,
    requestedScopes: server.settings.obo,
    principals,
    exchanges: () => exchanges,
    async close() {
      await exchanger.close();
      subjects.close();
      trust.close();
      await store.close();
    },
  };
}

/** Creates an account and a principal with a token of it. */
async function createSignedInPrincipal(
  { users }: ReturnType<typeof openMemoryStore>,
  index: number,
): Promise<UserPrincipal> {
  const now = clock.now();
  const subject = `u${index}`;
  const user = {
    ...{ id: subject, tenant: DEFAULT_TENANT, issuer: ISSUER, subject, role: 'USER', name: subject },
    ...{ email: `${subject}@example.com`, roleSource: 'manual' as const, roleConfirmedAt: null },
    ...{ disabledAt: null, signedOutAt: null, passwordSealed: null, createdAt: now, updatedAt: now },
  };
  await users.insert(user);
  const tokenText = new HiddenText(`own token of ${subject}`);
  const token = { text: tokenText, issuer: ISSUER, subject, expiresAt: now + HOUR_MS };
  return toPrincipal(user, { via: 'bearer', token });
}
