import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import type { Log, Provisioning } from '@behalf/gateway';
import type {
  AuthorizationServerKeys,
  AuthorizationServerRecords,
  AuthorizationServerSecrets,
  ClientGrants,
  IdJagVerifier,
} from '@behalf/gateway/authorization-server';
import type { UserStore } from '@behalf/gateway/ports';
import type { Clock, Fetch, Random } from '@behalf/kernel';
import type Provider from 'oidc-provider';
import { readCookie } from '../../http/cookies.ts';
import { MOUNT_PATH } from './issuer.ts';
import type { ClientFetchLimit } from './limits.ts';
import type { TokenResources } from './providerConfiguration.ts';

export interface ProviderSourceParts {
  readonly settings: Readonly<AuthorizationServer>;
  readonly issuer: () => string;
  readonly secure: () => boolean;
  readonly resources: TokenResources;
  readonly keys: AuthorizationServerKeys;
  readonly records: AuthorizationServerRecords;
  readonly grants: ClientGrants;
  /** Null if no issuer is trusted for ID-JAG assertions. */
  readonly idJags: { readonly verifier: IdJagVerifier; readonly provisioning: Provisioning } | null;
  readonly users: Pick<UserStore, 'findById'>;
  /** Fetches metadata documents and keys of clients. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Creates the oidc-provider instance for the current signing keys. */
export interface ProviderSource {
  /** The instance with the current keys. Loads the library on first use. */
  getProvider(): Promise<Provider>;
}

export function createProviderSource(parts: ProviderSourceParts): ProviderSource {
  let current: { readonly secrets: AuthorizationServerSecrets; readonly provider: Provider } | null = null;

  return {
    async getProvider() {
      const [secrets, { openProvider }] = await Promise.all([
        parts.keys.secrets(),
        import('./openProvider.ts'),
      ]);
      // The library reads its keys only at construction. New keys need a new instance on the same records.
      if (current?.secrets !== secrets) current = { secrets, provider: openProvider(parts, secrets) };
      return current.provider;
    },
  };
}

interface ProviderHandlerParts {
  readonly providerSource: ProviderSource;
  readonly fetchLimit: Pick<ClientFetchLimit, 'runForRequest'>;
  readonly issuer: () => string;
  /** The name of the session cookie of the library. */
  readonly sessionCookie: () => string;
}

/** Passes the request to the library. `path`: the path and query that the library expects. */
export type ProviderHandler = (req: IncomingMessage, res: ServerResponse, path: string) => Promise<void>;

/**
 * Normalizes requests for oidc-provider: URLs are built from our own origin, not from request headers, and the session cookie
 * of the library is removed, because the gateway decides who is signed in.
 */
export function createProviderHandler({
  providerSource,
  fetchLimit,
  issuer,
  sessionCookie,
}: ProviderHandlerParts): ProviderHandler {
  return async (req, res, path) => {
    const { host, protocol } = new URL(issuer());
    req.headers.host = host;
    req.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete req.headers['x-forwarded-host'];
    dropCookie(req, sessionCookie());
    req.url = path;
    (req as { originalUrl?: string }).originalUrl = `${MOUNT_PATH}${path}`;
    const provider = await providerSource.getProvider();
    await fetchLimit.runForRequest(req, () => provider.callback()(req, res));
  };
}

function dropCookie(req: IncomingMessage, name: string): void {
  if (readCookie(req, name) === null) return;
  const pairs = (req.headers.cookie ?? '').split(';').filter((pair) => pair.trim().split('=')[0] !== name);
  req.headers.cookie = pairs.join(';');
}
