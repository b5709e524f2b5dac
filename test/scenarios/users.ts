import { createAccounts, createPasswords, createSignInSessions, type Passwords } from '@behalf/gateway';
import { createKeyring, systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { loadKeys, openPrimary } from '@behalf/stores/open';
import type { InProcessGateway } from './inProcess.ts';

/** Somebody who is signed in. */
export interface TestUser {
  readonly id: string;
  readonly cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body?: unknown, init?: RequestInit): Promise<Response>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Calls a tool; the status and the parsed body. */
  call(
    server: string,
    tool: string,
    args?: object,
    init?: RequestInit,
  ): Promise<{ status: number; body: CallBody }>;
}

/** Of a result or of a problem, whichever came. */
export interface CallBody {
  content?: { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  code?: string;
  detail?: string;
  errors?: { path: string; message: string }[];
}

/** Accounts made beside a running gateway, as the operator's command makes them, each with a session. */
export async function createUsers(
  gateway: Pick<InProcessGateway, 'url' | 'dataDir'> & { mongoUri?: string | undefined },
  names: readonly (string | { name: string; role: string })[],
): Promise<TestUser[]> {
  const { dataDir, mongoUri } = gateway;
  const keyring = createKeyring(loadKeys({ configured: undefined, dataDir, random }), random);
  const store = await openPrimary({ dataDir, mongoUri }, { clock, random });
  try {
    const passwords: Passwords = {
      ...createPasswords(random),
      hash: async () => 'no password: these have sessions',
    };
    const accounts = createAccounts({ ...store, passwords, keyring, clock, random });
    const sessions = createSignInSessions({
      ...{ ...store, clock, random },
      endTokens: (key) => store.credentials.remove(key),
    });
    const users: TestUser[] = [];
    for (const entry of names) {
      const { name, role } = typeof entry === 'string' ? { name: entry, role: 'USER' } : entry;
      const user = await accounts.create({
        email: `${name.toLowerCase()}@example.com`,
        name,
        password: 'unused and long',
        role,
      });
      users.push(connectUser(gateway.url, user.id, (await sessions.start(user)).secret));
    }
    return users;
  } finally {
    await store.close();
  }
}

export function connectUser(url: string, id: string, secret: string): TestUser {
  const cookie = `behalf_session=${secret}`;
  const post = (path: string, body: unknown = {}, { headers, ...init }: RequestInit = {}) =>
    fetch(new URL(path, url), {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        cookie,
        'content-type': 'application/json',
        'x-behalf-csrf': '1',
        ...(headers as Record<string, string>),
      },
      ...init,
    });
  return {
    id,
    cookie,
    get: (path, headers = {}) => fetch(new URL(path, url), { headers: { cookie, ...headers } }),
    post,
    send: (method, path, body, headers = {}) =>
      post(path, body, { method, headers, ...(body === undefined && { body: null }) }),
    async call(server, tool, args = {}, init = {}) {
      const path = `/api/mcp/servers/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}/call`;
      const response = await post(path, { arguments: args }, init);
      return { status: response.status, body: (await response.json()) as CallBody };
    },
  };
}
