import { createKeyring, systemRandom, type Fetch, type Keyring } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock, createTestNetwork, type FakeClock } from '@behalf/testkit';
import type { AuditEvent } from '../src/audit/audit.ts';
import {
  type BearerCallers,
  type BearerVerifier,
  createBearerCallers,
  createBearerVerifier,
} from '../src/identity/openid/bearer.ts';
import { createIntrospection } from '../src/identity/openid/introspection.ts';
import {
  type OpenIdSettings,
  type ProviderMetadataSource,
  type SigningKeySource,
  createProviderMetadata,
  createSigningKeySource,
} from '../src/identity/openid/provider.ts';
import { createOpenIdLogin, type OpenIdLogin } from '../src/identity/openid/openIdLogin.ts';
import { createProvisioning, type Provisioning } from '../src/identity/openid/provisioning.ts';
import type { PrimaryStore } from '../src/ports/index.ts';
import { startTestIssuer, type TestIssuer } from './openidIssuer.ts';

export const GATEWAY = 'https://gateway.example';
export const CALLBACK = `${GATEWAY}/oauth/openid/callback`;

export interface OpenIdRig {
  readonly issuer: TestIssuer;
  readonly clock: FakeClock;
  readonly store: PrimaryStore;
  readonly keyring: Keyring;
  readonly fetch: Fetch;
  readonly metadata: ProviderMetadataSource;
  readonly keys: SigningKeySource;
  readonly verifier: BearerVerifier;
  readonly provisioning: Provisioning;
  readonly callers: BearerCallers;
  readonly login: OpenIdLogin;
  /** What was logged, as `event reason`. */
  readonly logged: string[];
  readonly events: AuditEvent[];
  /** Names of roles that exist in the tenant `default`. */
  readonly roles: Set<string>;
  /** An access token; `undefined` takes a claim out. */
  readonly token: (claims?: Record<string, unknown>, header?: Record<string, unknown>) => Promise<string>;
  close(): Promise<void>;
}

/** Where the gateway is, as tokens name its endpoints. */
export const GATEWAY_URL = 'https://gateway.example';

export function createOpenIdSettings(
  issuer: string,
  overrides: Partial<OpenIdSettings> = {},
): OpenIdSettings {
  return {
    issuer,
    clientId: 'gateway',
    clientSecret: 'client-secret',
    audience: null,
    scope: 'openid profile email',
    callbackUrl: '/oauth/openid/callback',
    roleClaim: 'roles',
    groupsClaim: null,
    tenantClaim: null,
    adminRole: null,
    requiredRole: null,
    allowedTenants: null,
    allowedClients: null,
    introspection: false,
    ...overrides,
  };
}

/** Everything about the identity provider, against a real one over the real door out, on a fake clock. */
export async function createOpenIdRig(
  overrides: Partial<OpenIdSettings> = {},
  { alg = 'ES256' }: { alg?: string } = {},
): Promise<OpenIdRig> {
  // The login's library has a clock of its own: it is the present day that both must agree on.
  const clock = createFakeClock(Math.floor(Date.now() / 1_000) * 1_000);
  const random = systemRandom;
  const issuer = await startTestIssuer(() => clock.now(), alg);
  const network = createTestNetwork([issuer.port]);
  const fetch = network.fetchTo({ url: issuer.url, audience: 'identity' });
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  const settings = createOpenIdSettings(issuer.url, overrides);
  const logged: string[] = [];
  const log = (event: string, fields: Readonly<Record<string, unknown>>) =>
    void logged.push([event, ...Object.values(fields)].join(' '));
  const events: AuditEvent[] = [];
  const roles = new Set(['USER', 'ADMIN']);
  const roleExists = (tenant: string, name: string) => tenant === 'default' && roles.has(name);
  const metadata = createProviderMetadata({ settings, fetch, clock, log });
  const keys = createSigningKeySource({ metadata, fetch, clock, log });
  const isEndpoint = (audience: string) => audience.startsWith(`${GATEWAY_URL}/mcp`);
  const introspection = settings.introspection
    ? createIntrospection({ settings, metadata, fetch, clock, log })
    : null;
  const verifier = createBearerVerifier({ settings, keys, introspection, isEndpoint, clock, log });
  const provisioning = createProvisioning({
    ...{ users: store.users, changes: store.changes, clock, random, roleExists },
    audit: { record: async (event) => void events.push(event), note: () => undefined, reserve: () => true },
  });
  return {
    ...{
      issuer,
      clock,
      store,
      keyring,
      fetch,
      metadata,
      keys,
      verifier,
      provisioning,
      logged,
      events,
      roles,
    },
    callers: createBearerCallers({ verifier, provisioning, roleExists }),
    login: createOpenIdLogin({
      ...{ settings, metadata, keys, keyring, clock, random, fetch, log },
      redirectUri: () => CALLBACK,
    }),
    token(claims = {}, header = {}) {
      const seconds = Math.floor(clock.now() / 1_000);
      const defaultClaims = { iss: issuer.url, aud: 'gateway', sub: 'ada', azp: 'app', scope: 'mcp' };
      return issuer.sign(
        { ...defaultClaims, iat: seconds, nbf: seconds, exp: seconds + 300, ...claims },
        { typ: 'JWT', ...header },
      );
    },
    async close() {
      await network.close();
      await issuer.close();
    },
  };
}

/** A browser's whole way through a login. */
export async function completeLogin(rig: OpenIdRig, changeQuery?: (query: URLSearchParams) => void) {
  const { url, flow } = await rig.login.start('/tools?x=1');
  const query = rig.issuer.authorize(url);
  changeQuery?.(query);
  return rig.login.finish({ flow, query: `?${query.toString()}` });
}
