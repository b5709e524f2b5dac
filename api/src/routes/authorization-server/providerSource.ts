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
import { MOUNT_PATH, type TokenResources } from './issuer.ts';
import type { ClientFetchLimit } from './limits.ts';

export interface ProviderSourceParts {
  readonly settings: Readonly<AuthorizationServer>;
  readonly issuer: () => string;
  readonly secure: () => boolean;
  readonly resources: TokenResources;
  readonly keys: AuthorizationServerKeys;
  readonly records: AuthorizationServerRecords;
  readonly grants: ClientGrants;
  /** Null where no issuer is trusted to vouch for users. */
  readonly idJags: { readonly accept: IdJagVerifier; readonly provisioning: Provisioning } | null;
  readonly users: Pick<UserStore, 'findById'>;
  /** To clients' documents and keys. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Our own authorization server: the library, on our stores, by our rules. */
export interface ProviderSource {
  /** By the keys that count now. Made when somebody first asks for it: the library is loaded for nobody else. */
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
      // The library takes its keys once. Another set of them is another instance, around the same records and cookies.
      if (current?.secrets !== secrets) current = { secrets, provider: openProvider(parts, secrets) };
      return current.provider;
    },
  };
}

interface ProviderHandlerParts {
  readonly providerSource: ProviderSource;
  readonly fetchLimit: Pick<ClientFetchLimit, 'runForRequest'>;
  readonly issuer: () => string;
  /** What the library calls its own session. */
  readonly sessionCookie: () => string;
}

/** Lets the library answer. `path` is how it knows the route, with what stands behind the question mark. */
export type ProviderHandler = (req: IncomingMessage, res: ServerResponse, path: string) => Promise<void>;

/**
 * What the library reads of a request is made plain first. Its addresses come from our own name and not from headers, and its own
 * session is never brought along: who is signed in, the gateway says, each time anew.
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
