import type { Clock } from '@behalf/kernel';
import {
  guardedMcpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type GuardedMcpServer,
  type GuardedOptions,
} from '@behalf/testkit';
import { afterEach } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createAdjustableClock, type AdjustableClock } from './adjustableClock.ts';
import { createUsers, connectUser, type TestUser } from './users.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { completeSignIn } from './completeSignIn.ts';

export interface GrantRig {
  readonly as: AuthorizationServer;
  readonly mcp: GuardedMcpServer;
  readonly gateway: InProcessGateway;
  readonly clock: Pick<AdjustableClock, 'now' | 'advance'>;
  readonly users: readonly TestUser[];
  /** Another replica over the same store, with the same people. */
  readonly startReplica: () => Promise<TestUser[]>;
  /** Signs in at the server as a browser would, and comes back. The address of the page at the end. */
  readonly connectUser: (user: TestUser, started?: Response) => Promise<URL>;
  readonly startSignIn: (user: TestUser, body?: object) => Promise<Response>;
  readonly listCredentials: (user: TestUser) => Promise<readonly CredentialView[]>;
}

export interface CredentialView {
  readonly kind: string;
  readonly label: string;
  readonly status: string;
  readonly reason?: string;
  readonly isDefault: boolean;
  readonly scopes: string;
  readonly fingerprint: string | null;
}

export interface GrantRigOptions {
  readonly names?: Parameters<typeof createUsers>[1];
  readonly mcp?: Partial<GuardedOptions>;
  readonly as?: Parameters<typeof startAuthorizationServer>[0];
  /** Of the definition. */
  readonly server?: object | ((as: AuthorizationServer) => object);
  readonly settings?: object;
  /** Of the authorization server, in `mcpSettings.issuers`. */
  readonly issuer?: object;
  /** Users may define servers there as well. */
  readonly isAllowedForUsers?: boolean;
  /** Of the environment. */
  readonly variables?: Record<string, string>;
  /** Its time, timers too; else one that stands still until it is moved while timers run as they do. */
  readonly clock?: Clock;
}

/** A gateway before a server at which each user signs in; all of it is closed after each test. */
export function createGrantRigs(): (options?: GrantRigOptions) => Promise<GrantRig> {
  const disposables: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const disposable of disposables.splice(0).reverse()) await disposable.close();
  });
  const track = <T extends { close(): Promise<void> }>(disposable: T): T => {
    disposables.push(disposable);
    return disposable;
  };

  return async ({
    names = ['Ada'],
    mcp: mcpOptions = {},
    as: options = {},
    server = {},
    settings = {},
    issuer = {},
    isAllowedForUsers = false,
    variables = {},
    ...rest
  } = {}) => {
    const adjustableClock = createAdjustableClock();
    const clock = rest.clock ?? adjustableClock;
    const as = track(await startAuthorizationServer({ now: () => clock.now(), ...options }));
    const mcp = track(
      await guardedMcpServer({
        era: 'legacy',
        authorizationServer: as,
        tools: [{ name: 'echo' }, { name: 'write' }],
        ...mcpOptions,
      }),
    );
    const serverOverrides =
      typeof server === 'function' ? (server as (as: AuthorizationServer) => object)(as) : server;
    const serverDefinition = httpDefinition(mcp.url, { requiresOAuth: true, ...serverOverrides });
    const hosts = [mcp.url, as.issuer].map((url) => new URL(url).host);
    const userRestrictions = { origins: [new URL(mcp.url).origin] };
    const mcpSettings = {
      [isAllowedForUsers ? 'allowedAddresses' : 'operatorAddresses']: hosts,
      issuers: { [as.issuer]: { ...(isAllowedForUsers && userRestrictions), ...issuer } },
    };
    const yaml = renderYaml({ notes: serverDefinition }, { mcpSettings, ...settings });
    const gateway = track(await startInProcess(variables, yaml, clock));
    const users = await createUsers(gateway, names);

    const startSignIn = (user: TestUser, body: object = {}) => user.post('/api/mcp/notes/oauth/start', body);
    return {
      ...{ as, mcp, gateway, clock: { ...adjustableClock, now: () => clock.now() }, users, startSignIn },
      async startReplica() {
        // Replicas have one address, by which their clients at authorization servers are known.
        const publicUrl = `http://localhost:${new URL(gateway.url).port}`;
        const replicaVariables = { ...variables, BEHALF_DATA_DIR: gateway.dataDir, PUBLIC_URL: publicUrl };
        const replica = track(await startInProcess(replicaVariables, yaml, clock));
        return users.map(({ id, cookie }) =>
          connectUser(replica.url, id, cookie.slice(cookie.indexOf('=') + 1)),
        );
      },
      connectUser: async (user, response) =>
        completeSignIn(gateway.url, user, response ?? (await startSignIn(user))),
      async listCredentials(user) {
        const response = await user.get('/api/mcp/notes/credentials');
        return ((await response.json()) as { credentials: CredentialView[] }).credentials;
      },
    };
  };
}
