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
import { createMovableClock, type MovableClock } from './movableClock.ts';
import { createPeople, person, type Person } from './people.ts';
import { http, yamlWith } from './serverYaml.ts';
import { throughSignIn } from './throughSignIn.ts';

export interface GrantScene {
  readonly as: AuthorizationServer;
  readonly mcp: GuardedMcpServer;
  readonly gateway: InProcessGateway;
  readonly clock: Pick<MovableClock, 'now' | 'move'>;
  readonly people: readonly Person[];
  /** Another replica over the same store, with the same people. */
  readonly beside: () => Promise<Person[]>;
  /** Signs in at the server as a browser would, and comes back. The address of the page at the end. */
  readonly connect: (who: Person, started?: Response) => Promise<URL>;
  readonly start: (who: Person, body?: object) => Promise<Response>;
  readonly credentials: (who: Person) => Promise<readonly CredentialShown[]>;
}

export interface CredentialShown {
  readonly kind: string;
  readonly label: string;
  readonly status: string;
  readonly reason?: string;
  readonly isDefault: boolean;
  readonly scopes: string;
  readonly fingerprint: string | null;
}

export interface GrantSceneOptions {
  readonly names?: Parameters<typeof createPeople>[1];
  readonly mcp?: Partial<GuardedOptions>;
  readonly as?: Parameters<typeof startAuthorizationServer>[0];
  /** Of the definition. */
  readonly server?: object | ((as: AuthorizationServer) => object);
  readonly settings?: object;
  /** Users may define servers there as well. */
  readonly allowed?: boolean;
  /** Of the environment. */
  readonly variables?: Record<string, string>;
  /** Its time, timers too; else one that stands still until it is moved while timers run as they do. */
  readonly clock?: Clock;
}

/** A gateway before a server at which each user signs in; all of it is closed after each test. */
export function createGrantScenes(): (options?: GrantSceneOptions) => Promise<GrantScene> {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });
  const open = <T extends { close(): Promise<void> }>(part: T): T => {
    opened.push(part);
    return part;
  };

  return async ({
    names = ['Ada'],
    mcp: more = {},
    as: options = {},
    server = {},
    settings = {},
    allowed = false,
    variables = {},
    ...rest
  } = {}) => {
    const movable = createMovableClock();
    const clock = rest.clock ?? movable;
    const as = open(await startAuthorizationServer({ now: () => clock.now(), ...options }));
    const mcp = open(
      await guardedMcpServer({
        era: 'legacy',
        authorizationServer: as,
        tools: [{ name: 'echo' }, { name: 'write' }],
        ...more,
      }),
    );
    const own = typeof server === 'function' ? (server as (as: AuthorizationServer) => object)(as) : server;
    const entry = http(mcp.url, { requiresOAuth: true, ...own });
    const hosts = [mcp.url, as.issuer].map((url) => new URL(url).host);
    const forUsers = { origins: [new URL(mcp.url).origin] };
    const mcpSettings = {
      [allowed ? 'allowedAddresses' : 'operatorAddresses']: hosts,
      issuers: { [as.issuer]: allowed ? forUsers : {} },
    };
    const yaml = yamlWith({ notes: entry }, { mcpSettings, ...settings });
    const gateway = open(await startInProcess(variables, yaml, clock));
    const people = await createPeople(gateway, names);

    const start = (who: Person, body: object = {}) => who.post('/api/mcp/notes/oauth/start', body);
    return {
      ...{ as, mcp, gateway, clock: { ...movable, now: () => clock.now() }, people, start },
      async beside() {
        // Replicas have one address, by which their clients at authorization servers are known.
        const address = `http://localhost:${new URL(gateway.url).port}`;
        const shared = { ...variables, BEHALF_DATA_DIR: gateway.dataDir, PUBLIC_URL: address };
        const other = open(await startInProcess(shared, yaml, clock));
        return people.map(({ id, cookie }) => person(other.url, id, cookie.slice(cookie.indexOf('=') + 1)));
      },
      connect: async (who, given) => throughSignIn(gateway.url, who, given ?? (await start(who))),
      async credentials(who) {
        const response = await who.get('/api/mcp/notes/credentials');
        return ((await response.json()) as { credentials: CredentialShown[] }).credentials;
      },
    };
  };
}
